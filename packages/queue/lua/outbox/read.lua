-- Reads entries again, for a receiver that lacks them.
--
-- Input    ARGV[2] receiver, [3] number from which on, [4] how many at most
-- Output   {spans of the list as in outbox/send.lua, entries}
local shard, from, most = arg(), number(), number()
local spans = sentOf(shard)
local at = math.max(0, from - spans[1])
return { table.concat(spans, ' '), redis.call('LRANGE', key('outbox', shard), at, at + most - 1) }

-- Reads entries again, for a receiver that lacks them: as many as are asked for, or fewer, as one message must fit into a worker's memory.
--
-- Input    ARGV[2] receiver, [3] number from which on, [4] how many at most
-- Output   {spans of the list as in outbox/send.lua, entries}; none when there is none from that number on
local READ_BYTES_MAX, MAX_ENTRIES_PER_RANGE = 1048576, 10
local shard, from, most = arg(), number(), number()
local spans = sentOf(shard)
local at, entries, bytes = math.max(0, from - spans[1]), {}, 0
while #entries < most and bytes < READ_BYTES_MAX do
  local first = at + #entries
  local last = at + math.min(most, #entries + MAX_ENTRIES_PER_RANGE) - 1
  local part = redis.call('LRANGE', key('outbox', shard), first, last)
  for _, entry in ipairs(part) do
    entries[#entries + 1] = entry
    bytes = bytes + #entry
  end
  if first + #part <= last then
    break
  end
end
return { table.concat(spans, ' '), entries }

-- Runs before BullMQ looks for turns whose locks have run out: it takes those that had no lock at two looks. When no worker has
-- looked for a while, Redis was away, and locks have run out for that alone: the look before does not count, so that the living
-- renew theirs first.
--
-- Input    ARGV[2] after how long without a look that is so (ms)
-- Output   nothing
local gap, watchedAt = number(), redis.call('HGET', KEYS[2], 'watchedAt')
-- A first write that Redis never refuses, see buckets/begin.lua.
redis.call('HDEL', KEYS[2], '')
redis.call('HSET', KEYS[2], 'watchedAt', whole(now))
if now - (watchedAt or 0) > gap then
  redis.call('DEL', KEYS[6] .. 'stalled')
end

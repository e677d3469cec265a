-- Takes links in doubt that should be asked about now. They may be taken again some time later, if their doubt has not ended.
--
-- Input    KEYS[1] doubts, KEYS[2] doubts:since, see leasing/doubts.lua
--          ARGV[1] how many, [2] how long one waits to be asked about (ms), [3] when it waits again (ms)
-- Output   the packed requests
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[2], 'LIMIT', 0, ARGV[1])
if #ids == 0 then
  return {}
end
-- A first write that Redis never refuses, not even at its maxmemory.
redis.call('HDEL', KEYS[1], '')
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[3]), id)
end
return redis.call('HMGET', KEYS[1], unpack(ids))

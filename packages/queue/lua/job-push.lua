-- Adds requests of start(), a seed, or a part of a page, once for each owner.
--
-- Input    KEYS as in job-keys.lua, KEYS[11] record, KEYS[12] owners that are not settled, KEYS[13] ids noted for this one
--          ARGV[1] owner, ARGV[2] n of an owner start/<n>, else "", ARGV[3] "1" for lifo
--          ARGV[4…] job id, data, priority, …
-- Output   how many were added; -1 for an element of start() that leaves out others: those before it were lost with an older
--          state of Redis
local start, added = tonumber(ARGV[2]), 0
if start then
  local cursor = tonumber(redis.call('HGET', KEYS[11], 'startCursor') or 0)
  if start ~= cursor then
    return start < cursor and 0 or -1
  end
  redis.call('HSET', KEYS[11], 'startCursor', start + 1)
elseif #ARGV > 3 then
  redis.call('SADD', KEYS[12], ARGV[1])
end
for i = 4, #ARGV, 3 do
  if start or redis.call('SADD', KEYS[13], ARGV[i]) == 1 then
    added = added + add(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[3] == '1')
  end
end
return added

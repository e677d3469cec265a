-- Adds requests of start(), a seed, or a part of a page, once for each owner.
--
-- Input    KEYS as in job-keys.lua, KEYS[11] record, KEYS[12] owners that are not settled, KEYS[13] ids noted for this one
--          ARGV[1] owner; for elements of start() [2] where the start cursor must have come to, [3] where it goes, else "";
--          ARGV[4] "1" for lifo
--          ARGV[5…] job id, data, priority, number of the element or "", …
-- Output   how many were added, none for an element before the cursor; -1 for elements that leave out others: those before
--          them were lost with an older state of Redis
local from, to, added = tonumber(ARGV[2]), tonumber(ARGV[3]), 0
local cursor = to and tonumber(redis.call('HGET', KEYS[11], 'startCursor') or 0)
if to and cursor < from then
  return -1
end
if to and to > cursor then
  redis.call('HSET', KEYS[11], 'startCursor', to)
elseif not to and #ARGV > 4 then
  redis.call('SADD', KEYS[12], ARGV[1])
end
for i = 5, #ARGV, 4 do
  local isBefore = to and tonumber(ARGV[i + 3]) < cursor
  if not isBefore and (to or redis.call('SADD', KEYS[13], ARGV[i]) == 1) then
    added = added + add(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[4] == '1')
  end
end
return added

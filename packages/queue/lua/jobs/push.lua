-- Adds requests of start(), a seed, or a part of a page, once for each asker.
--
-- Input    KEYS as in jobs/keys.lua, KEYS[11] record, KEYS[12] askers that are not settled, KEYS[13] ids noted for this one
--          ARGV[1] asker, [2] the worker's run or "" for one that knows of none; for elements of start() [3] where the start
--          cursor must have come to, [4] where it goes, else ""; [5] "1" for lifo
--          ARGV[6…] job id, data, priority, number of the element or "", …; of one in doubt: id, packed request, "doubt", …
-- Output   how many were added, none for an element before the cursor; -1 for elements that leave out others: those before
--          them were lost with an older state of Redis; -2 for a run that has finished, was cleared, or is followed by another
local NOTED_MS = 604800000
local from, to, added = tonumber(ARGV[3]), tonumber(ARGV[4]), 0
local run, state = unpack(redis.call('HMGET', KEYS[11], 'run', 'state'))
if ARGV[2] ~= '' and (run ~= ARGV[2] or state == 'finished') then
  return -2
end
local cursor = to and tonumber(redis.call('HGET', KEYS[11], 'startCursor') or 0)
if to and cursor < from then
  return -1
end
if to and to > cursor then
  redis.call('HSET', KEYS[11], 'startCursor', to)
elseif not to and #ARGV > 5 then
  redis.call('SADD', KEYS[12], ARGV[1])
  redis.call('PEXPIRE', KEYS[12], NOTED_MS)
end
for i = 6, #ARGV, 4 do
  local isBefore = to and tonumber(ARGV[i + 3]) < cursor
  if not isBefore and (to or redis.call('SADD', KEYS[13], ARGV[i]) == 1) then
    if ARGV[i + 2] == 'doubt' then
      setAside(KEYS[1], { ARGV[i + 1] })
    else
      added = added + add(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[5] == '1')
    end
  end
end
if not to then
  redis.call('PEXPIRE', KEYS[13], NOTED_MS)
end
return added

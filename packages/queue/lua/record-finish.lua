-- Ends the crawl for all workers when there is nothing left to do, and tells them to look.
--
-- Input    KEYS as in record-counts.lua, KEYS[1] record; ARGV[1] run
-- Output   1 when the crawl is finished, by this call or an earlier one
local run, state, startEnded = unpack(redis.call('HMGET', KEYS[1], 'run', 'state', 'startEnded'))
if run ~= ARGV[1] then
  return 0
end
if state ~= 'running' then
  return state == 'finished' and 1 or 0
end
local waiting, delayed, leased = counts()
if startEnded ~= '1' or waiting + delayed + leased > 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'state', 'finished', 'endedAt', nowText, 'finishReason', 'finished')
redis.call('PUBLISH', KEYS[1] .. ':asked', '')
return 1

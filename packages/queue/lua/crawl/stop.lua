-- Stops the crawl for all workers, and tells them that something is asked of them.
--
-- Input    KEYS[1] record; ARGV[1] why, ARGV[2] run, "" for whichever runs
-- Output   1 when it is stopped, by this call or an earlier one
local run, state, reason, stopReason = unpack(redis.call('HMGET', KEYS[1], 'run', 'state', 'finishReason', 'stopReason'))
if ARGV[2] ~= '' and run ~= ARGV[2] then
  return 0
end
if state == 'stopped' and not stopReason and (ARGV[2] == '' or reason == 'not_opened') then
  -- Its workers were told to end before, and somebody who starts them as they are wanted would start the next one. Or its last worker has left
  -- before it was open, and why is known by now.
  redis.call('HSET', KEYS[1], 'finishReason', ARGV[1])
end
if state ~= 'running' then
  return state == 'stopped' and 1 or 0
end
redis.call('HSET', KEYS[1], 'state', 'stopped', 'stopReason', ARGV[1], 'finishReason', ARGV[1], 'endedAt', nowText)
redis.call('PUBLISH', KEYS[1] .. ':asked', '')
return 1

-- Makes a crawl that the next worker resumes, for whoever gives it work; one that has ended goes on.
--
-- Input    KEYS[1] record; ARGV[1] id for a new run, ARGV[2] "1" when start() is not to run
-- Output   {"new", "resumed" for one that had ended, "running", or "emptied" while its queue has yet to be emptied; its run,
--          the first run of the crawl}
local state, flush, run, first = unpack(redis.call('HMGET', KEYS[1], 'state', 'flush', 'run', 'firstRun'))
if not state and flush then
  return { 'emptied', '', '' }
end
if ARGV[2] == '1' and state ~= 'running' then
  redis.call('HSET', KEYS[1], 'startEnded', '1')
end
if state == 'running' then
  return { state, run, first or run }
end
if not state then
  redis.call('HSET', KEYS[1], 'run', ARGV[1], 'firstRun', ARGV[1], 'begunAt', nowText, 'runningSince', nowText)
elseif flush == 'owed' then
  redis.call('HDEL', KEYS[1], 'flush')
end
redis.call('HDEL', KEYS[1], 'emptied')
redis.call('HSET', KEYS[1], 'state', 'stopped')
return { state and 'resumed' or 'new', run or ARGV[1], first or run or ARGV[1] }

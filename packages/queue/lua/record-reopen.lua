-- Lets a crawl that has ended go on, as somebody has given it work: the next worker resumes it, and empties nothing first.
--
-- Input    KEYS[1] record
-- Output   1 when it had finished
local state, flush = unpack(redis.call('HMGET', KEYS[1], 'state', 'flush'))
if state == 'running' or not state then
  return 0
end
if flush == 'owed' then
  redis.call('HDEL', KEYS[1], 'flush')
end
redis.call('HDEL', KEYS[1], 'emptied')
redis.call('HSET', KEYS[1], 'state', 'stopped')
return state == 'finished' and 1 or 0

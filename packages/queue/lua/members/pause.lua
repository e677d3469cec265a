-- Pauses a running crawl, or lets it go on, and tells its workers that something is asked of them.
--
-- Input    KEYS[1] record; ARGV[1] "1" to pause, "0" to resume
-- Output   1; 0 when no crawl runs
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then
  return 0
end
if ARGV[1] == '1' then
  redis.call('HSET', KEYS[1], 'paused', '1')
else
  redis.call('HDEL', KEYS[1], 'paused')
end
redis.call('PUBLISH', KEYS[1] .. ':asked', '')
return 1

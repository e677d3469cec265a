-- Notes why the crawl refuses its workers, before they leave it as they have found it.
--
-- Input    KEYS[1] record; ARGV[1] run, ARGV[2] the finish reason that whoever looks is told in place of not_opened
-- Output   1 when it is noted, 0 for another run
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'refusedAs', ARGV[2])
return 1

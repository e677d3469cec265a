-- Notes that a worker of this run has joined its dupefilter. The worker that empties the filter removes the note, see crawl/do.lua.
--
-- Input    KEYS[1] record; ARGV[1] run
-- Output   nothing; in another run nothing is changed
if redis.call('HGET', KEYS[1], 'run') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'filterJoined', '1')
end

-- Notes that a worker of this run has joined its dupefilter, or takes that back: what the run had there is gone on purpose.
--
-- Input    KEYS[1] record; ARGV[1] run, ARGV[2] "1" joined, "0" gone
-- Output   nothing; in another run nothing is changed
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then
  return
end
if ARGV[2] == '1' then
  redis.call('HSET', KEYS[1], 'filterJoined', '1')
else
  redis.call('HDEL', KEYS[1], 'filterJoined')
end

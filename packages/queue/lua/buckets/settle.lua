-- Shortens the life of what is noted under an asker: it is needed only as long as a command can be late.
--
-- Input    ARGV[2] asker, [3] how long it is kept (ms)
-- Output   nothing
if redis.call('PEXPIRE', KEYS[8] .. ':' .. arg(), ARGV[3]) == 1 then
  redis.call('ZADD', KEYS[1] .. ':owners', whole(now + ARGV[3]), ARGV[2])
  if redis.call('PTTL', KEYS[1] .. ':owners') < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[1] .. ':owners', ARGV[3])
  end
end

-- What was noted under an owner is needed no longer than a command can be late.
--
-- Input    ARGV[2] owner, [3] how long it is kept (ms)
-- Output   nothing
if redis.call('PEXPIRE', KEYS[8] .. ':' .. arg(), ARGV[3]) == 1 then
  redis.call('ZADD', KEYS[1] .. ':owners', whole(now + ARGV[3]), ARGV[2])
end

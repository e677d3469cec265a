-- Notes that people are to be told of a schedule that is gone though nobody removed it: once, by the first process that misses it.
--
-- Input    KEYS[1] hash: schedule that is not there any more → how, KEYS[2] what people are yet to be told
--          ARGV[1] name of the schedule, ARGV[2] id of what people are to be told, ARGV[3] that, as JSON, ARGV[4] so much waits at most
--          ARGV[5] milliseconds for which it is known that it is gone
-- Output   1 when it is noted; 0 when it was removed, or another process has noted it
if redis.call('HSETNX', KEYS[1], ARGV[1], 'gone') == 0 then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if redis.call('HLEN', KEYS[2]) < tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
end
return 1

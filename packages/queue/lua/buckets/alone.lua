-- Notes that a worker runs a suspect alone, and when: the note of a worker that sends nothing more is deleted some time later.
--
-- Input    ARGV[2] worker, [3] id of the request
-- Output   nothing. The first write is one that Redis never refuses, see buckets/begin.lua
local worker = arg()
redis.call('HDEL', KEYS[3], '')
redis.call('ZADD', KEYS[1] .. ':workers', whole(now), worker)
-- As long as buckets/sweep.lua keeps an entry of it.
redis.call('PEXPIRE', KEYS[1] .. ':workers', 86400000)
redis.call('HSET', KEYS[3], worker, arg())

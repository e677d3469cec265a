-- Notes that a worker runs a suspect alone.
--
-- Input    ARGV[2] worker, [3] id of the request
-- Output   nothing. The first write is one that Redis never refuses, see turn-begin.lua
redis.call('HDEL', KEYS[3], '')
redis.call('HSET', KEYS[3], arg(), arg())

-- Notes that a start host has a public address. Of other hosts nothing is noted.
--
-- Input    KEYS[1] the set of start hosts, KEYS[2] those that had a public address
--          ARGV[1] host and port
-- Output   1, 0 when nothing has changed
if redis.call('SREM', KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call('SADD', KEYS[2], ARGV[1])

-- Notes a host of a start request.
--
-- Input    KEYS[1] the set of them, ARGV[1] host and port
-- Output   1, or 0 when it was there
return redis.call('SADD', KEYS[1], ARGV[1])

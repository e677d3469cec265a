-- Notes that an output of this run is begun: later workers add to it.
--
-- Input    KEYS[1] record; ARGV[1] field of the output
-- Output   nothing
redis.call('HSET', KEYS[1], ARGV[1], '1')

-- Counts the messages that are not done.
--
-- Input    KEYS[1] start URLs, KEYS[2] processing
-- Output   {waiting, in work by any worker}
local count = ({ list = 'LLEN', set = 'SCARD', zset = 'ZCARD' })[redis.call('TYPE', KEYS[1]).ok]
return { count and redis.call(count, KEYS[1]) or 0, redis.call('HLEN', KEYS[2]) }

-- Notes a host of a start request, unless it has had a public address. There is room for so many of both kinds.
--
-- Input    KEYS[1] the set of them, KEYS[2] those that had a public address
--          ARGV[1] host and port, ARGV[2] how many there may be together
-- Output   1, 0 when it was there, -1 when there is no room
local hosts, public, host = KEYS[1], KEYS[2], ARGV[1]
if redis.call('SISMEMBER', hosts, host) == 1 or redis.call('SISMEMBER', public, host) == 1 then return 0 end
if redis.call('SCARD', hosts) + redis.call('SCARD', public) >= tonumber(ARGV[2]) then return -1 end
return redis.call('SADD', hosts, host)

-- Everything that a Redis holds.
--
-- Input    ARGV[1] now (ms): keys that have ended by the test's clock are left out
-- Output   [[key, type, value], …]; a hash and a sorted set as [name, value, …]
local all = {}
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', 'clock:ends', '-inf', '(' .. ARGV[1])) do
  redis.call('DEL', ended)
  redis.call('ZREM', 'clock:ends', ended)
end
local read = {
  string = function(name) return redis.call('GET', name) end,
  hash = function(name) return redis.call('HGETALL', name) end,
  list = function(name) return redis.call('LRANGE', name, 0, -1) end,
  set = function(name) return redis.call('SMEMBERS', name) end,
  zset = function(name) return redis.call('ZRANGE', name, 0, -1, 'WITHSCORES') end,
}
for _, name in ipairs(redis.call('KEYS', '*')) do
  if string.sub(name, 1, 6) ~= 'clock:' then
    local kind = redis.call('TYPE', name)['ok']
    all[#all + 1] = { name, kind, read[kind](name) }
  end
end
return all

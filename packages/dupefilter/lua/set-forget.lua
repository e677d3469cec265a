-- Makes one request new again.
--
-- Input    KEYS as in owners.lua, KEYS[1] the set, KEYS[5] record; ARGV[1] {}, ARGV[2] member, ARGV[3] the new generation
-- Output   1 when it was there
local member = ARGV[2]
local holder = redis.call('HGET', KEYS[2], member)
if holder then
  redis.call('LREM', membersOf(string.match(holder, '^%d+:(.*)\n')), 1, member)
  redis.call('HDEL', KEYS[2], member)
end
redis.call('HSET', KEYS[5], 'generation', ARGV[3])
return redis.call('SREM', KEYS[1], member)

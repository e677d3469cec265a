-- Makes one request new again, once: a script that was sent twice must not take out what was recorded meanwhile.
--
-- Input    KEYS and the store's own as for redis/ask.lua; ARGV[1] {count: 1, once: [asker, number], generation, …store's}
--          ARGV[2] member; an asker's numbers grow. The store defines erase(member)
-- Output   1 when it was there; all caches are then out of date. Or an error, WEBLOOM_…, when the store refuses
local asker, number = unpack(header.once)
local field, member = 'forgot:' .. asker, ARGV[2]
if tonumber(redis.call('HGET', KEYS[5], field) or 0) >= number then
  return 0
end
local seen, refusal = probe({ member })
if refusal then
  return redis.error_reply(refusal)
elseif not seen[1] then
  return 0
end
local holder = redis.call('HGET', KEYS[2], member)
-- Un-marked already: the next asker is told "new" as it is, and the store counts it once.
if holder == '' then
  return 0
elseif holder then
  redis.call('LREM', membersOf(string.match(holder, '^%d+:(.*)\n')), 1, member)
  redis.call('HDEL', KEYS[2], member)
end
erase(member)
redis.call('HSET', KEYS[5], field, number, 'generation', header.generation)
return 1

-- Looks after turns that nobody has seen for a while, and after what dead workers left.
--
-- Input    ARGV[2] worker, [3] least time between two sweeps (ms), by whomever
-- Output   {workers, turns that wait in BullMQ, woken}: those whose job is owed to BullMQ, as its adder died or Redis lost it
local PRESENT_MS, KNOWN_MS, SEEN_MS = 15000, 86400000, 30000
local workers = KEYS[1] .. ':workers'
-- A first write that Redis never refuses, see turn-begin.lua.
redis.call('ZREMRANGEBYSCORE', workers, '-inf', whole(now - KNOWN_MS))
redis.call('ZADD', workers, whole(now), arg())
local present = redis.call('ZCOUNT', workers, whole(now - PRESENT_MS), '+inf')
local waiting = redis.call('ZCARD', KEYS[6] .. 'prioritized')
if now - (redis.call('HGET', KEYS[2], 'sweptAt') or 0) < number() then
  return { present, waiting, {} }
end
redis.call('HSET', KEYS[2], 'sweptAt', whole(now))
redis.call('ZREMRANGEBYSCORE', KEYS[1] .. ':owners', '-inf', whole(now))
redis.call('ZREMRANGEBYSCORE', KEYS[1] .. ':paused', '-inf', whole(now))
for _, worker in ipairs(redis.call('HKEYS', KEYS[3])) do
  if not redis.call('ZSCORE', workers, worker) then
    redis.call('HDEL', KEYS[3], worker)
  end
end
for _, unit in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. ':due', '-inf', whole(now), 'LIMIT', 0, 200)) do
  local name, lane, generation = string.match(unit, '^(.*)~(%d+)~(%d+)$')
  local fields = redis.call('HMGET', key('host', name), 'g' .. lane, 'urgency')
  local hasJob = redis.call('EXISTS', KEYS[6] .. unit) == 1
  if fields[1] ~= generation then
    redis.call('ZREM', KEYS[1] .. ':due', unit)
  else
    redis.call('ZADD', KEYS[1] .. ':due', whole(now + (hasJob and SEEN_MS or 3000)), unit)
    if not hasJob then
      woken[#woken + 1], woken[#woken + 2] = unit, fields[2] or '0'
    end
  end
end
return { present, waiting, woken }

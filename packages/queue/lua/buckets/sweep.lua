-- Looks after turns that no worker has had for a while, and after what dead workers left. Publishes the state to all workers.
--
-- Input    tellRest; ARGV[2] worker, [3] least time between two sweeps of any workers (ms), [4] a job may be owed for so long: it takes time
--          to add it (ms)
-- Output   {1 when it was this worker, workers, turns that wait in BullMQ, requests, woken, unserved}: woken: those whose job is owed
--          to BullMQ, as its adder died or Redis lost it; unserved: turns that wait of units that no worker has, and all that a lost one had
local KNOWN_MS, SEEN_MS, LATE_MS, FAR_MS, sweeper, least, owed = 86400000, 30000, 1000, 30000, arg(), number(), number()
local sweptAt, queued, later, leased = unpack(redis.call('HMGET', KEYS[2], 'sweptAt', 'waiting', 'delayed', 'leased'))
local present = redis.call('PUBSUB', 'NUMSUB', KEYS[1] .. ':sweeps')[2]
local prioritized = KEYS[6] .. 'prioritized'
-- What a lost worker had waits before all that has a priority, see watch.lua.
local given = redis.call('LLEN', KEYS[6] .. 'wait')
local waiting = redis.call('ZCARD', prioritized) + given
local requests = (queued or 0) + (later or 0) + (leased or 0)
if now - (sweptAt or 0) < least then
  return { 0, present, waiting, requests, {}, waiting }
end
-- A first write that Redis never refuses, see buckets/begin.lua.
redis.call('ZREMRANGEBYSCORE', KEYS[1] .. ':workers', '-inf', whole(now - KNOWN_MS))
redis.call('HSET', KEYS[2], 'sweptAt', whole(now))
redis.call('ZREMRANGEBYSCORE', KEYS[1] .. ':owners', '-inf', whole(now))
redis.call('PEXPIRE', KEYS[1] .. ':heard', KNOWN_MS)
redis.call('ZREMRANGEBYSCORE', KEYS[1] .. ':paused', '-inf', whole(now))
for _, worker in ipairs(redis.call('HKEYS', KEYS[3])) do
  if not redis.call('ZSCORE', KEYS[1] .. ':workers', worker) then
    redis.call('HDEL', KEYS[3], worker)
  end
end
for _, unit in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. ':due', '-inf', whole(now - owed), 'LIMIT', 0, 200)) do
  local name, lane, generation = string.match(unit, '^(.*)~(%d+)~(%d+)$')
  local fields = redis.call('HMGET', key('unit', name), 'g' .. lane, 'urgency')
  local hasJob = redis.call('EXISTS', KEYS[6] .. unit) == 1
  if fields[1] ~= generation then
    redis.call('ZREM', KEYS[1] .. ':due', unit)
  else
    redis.call('ZADD', KEYS[1] .. ':due', whole(now + (hasJob and SEEN_MS or 0)), unit)
    if not hasJob then
      woken[#woken + 1], woken[#woken + 2] = unit, fields[2] or '0'
    end
  end
end
-- BullMQ delays turns, and looks whether they are due, by the clocks of workers, any of which may be an hour wrong. When a unit
-- has something to do is known by Redis's.
local function isAwake(job)
  local asleep = redis.call('HGET', key('unit', string.match(job, '^(.*)~%d+~%d+$') or ''), 'asleep')
  return tonumber(asleep or 0) <= now
end
local delayed = KEYS[6] .. 'delayed'
local overdue = redis.call('ZRANGEBYSCORE', delayed, '-inf', whole((now - LATE_MS) * 4096), 'LIMIT', 0, 200)
for _, unit in ipairs(redis.call('ZREVRANGEBYSCORE', delayed, '+inf', whole((now + FAR_MS) * 4096), 'LIMIT', 0, 200)) do
  overdue[#overdue + 1] = isAwake(unit) and unit or nil
end
for _, unit in ipairs(overdue) do
  local priority = tonumber(redis.call('HGET', KEYS[6] .. unit, 'priority') or 0)
  redis.call('ZREM', delayed, unit)
  redis.call('HSET', KEYS[6] .. unit, 'delay', 0)
  redis.call('ZADD', prioritized, whole(priority * 2 ^ 32 + redis.call('INCR', KEYS[6] .. 'pc') % 2 ^ 32), unit)
  waiting = waiting + 1
end
-- Of a hot slot that a worker has, another lane may wait for whoever needs it.
local function isServed(job)
  local name, own = string.match(job, '^(.*)~(%d+)~%d+$')
  local unit = unitOf(name or '')
  for lane = 0, LANES_MAX - 1 do
    if unit['o' .. lane] and tostring(lane) ~= own then
      return true
    end
  end
  return false
end
local unserved = waiting
for _, job in ipairs(waiting > given and redis.call('ZRANGE', prioritized, 0, 199) or {}) do
  unserved = unserved - (isServed(job) and 1 or 0)
end
-- A worker that waits for a job is woken by BullMQ's marker, and one that died may have taken the marker.
if waiting > 0 or redis.call('ZCOUNT', KEYS[6] .. 'delayed', '-inf', now * 0x1000) > 0 then
  redis.call('ZADD', KEYS[6] .. 'marker', 0, '0')
end
tellRest(requests, waiting)
redis.call('PUBLISH', KEYS[1] .. ':sweeps', table.concat({ sweeper, present, waiting, requests, unserved }, '\n'))
return { 1, present, waiting, requests, woken, unserved }

-- Finds jobs whose locks have run out: those that had none at two looks may be had by others. It stands for BullMQ's own look
-- for stalled jobs, which knows no clock: sent again by a connection that was lost, it takes the living for lost.
--
-- When no worker has looked for a while, Redis was away, and locks have run out for that alone: the look before does not count,
-- and nothing is taken until all workers have had the time to come back and renew theirs. Redis tells the time, as any worker
-- may look first, or take charge just then.
--
-- Input    ARGV[2] after how long without a look that is so (ms), [3] how long workers need to come back (ms)
-- Output   {how long ago Redis came back (ms); negative: its clock was set back since, how many jobs others may have now}
local gap, back = number(), number()
local watchedAt, cameBackAt = unpack(redis.call('HMGET', KEYS[2], 'watchedAt', 'cameBackAt'))
local stalled, active = KEYS[6] .. 'stalled', KEYS[6] .. 'active'
-- A first write that Redis never refuses, see buckets/begin.lua.
redis.call('HDEL', KEYS[2], '')
redis.call('HSET', KEYS[2], 'watchedAt', whole(now))
if now - (watchedAt or 0) > gap then
  cameBackAt = now
  redis.call('HSET', KEYS[2], 'cameBackAt', whole(now))
  redis.call('DEL', stalled)
end
-- A clock that was set back says nothing of when.
local backFor, given = now - (cameBackAt or 0), 0
if backFor >= back or backFor < 0 then
  local atTheLookBefore = redis.call('SMEMBERS', stalled)
  for _, unit in ipairs(atTheLookBefore) do
    if redis.call('EXISTS', KEYS[6] .. unit .. ':lock') == 0 and redis.call('LREM', active, 1, unit) == 1 then
      -- BullMQ gives what is in this list before all that has a priority.
      redis.call('RPUSH', KEYS[6] .. 'wait', unit)
      redis.call('ZADD', KEYS[6] .. 'marker', 0, '0')
      given = given + 1
    end
  end
  if #atTheLookBefore > 0 then
    redis.call('DEL', stalled)
  end
end
for _, unit in ipairs(redis.call('LRANGE', active, 0, -1)) do
  redis.call('SADD', stalled, unit)
end
return { whole(backFor), given }

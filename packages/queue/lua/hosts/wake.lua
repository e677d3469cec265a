-- Turns whose job BullMQ must get, or must put earlier.
--
-- Input    unitOf(host, lane); wake(host, lane): a new generation of it
--          rouse(host): its only lane, whose job sleeps in BullMQ, gets another generation: the old job will find that it is
--          over; raise(host, priority): its turns that wait become more urgent
-- Output   woken: unit, priority, …: turns whose job is owed to BullMQ
--          raised: unit, priority, …: waiting turns that have become more urgent
-- A turn that no worker has had for so long is looked after. Longer than it takes to add its job.
local OWED_MS = 3000

local function unitOf(host, lane)
  return host.name .. '~' .. lane .. '~' .. host['g' .. lane]
end

local function wake(host, lane)
  set(host, 'g' .. lane, whole(redis.call('HINCRBY', KEYS[2], 'generation', 1)))
  redis.call('ZADD', KEYS[1] .. ':due', whole(now + OWED_MS), unitOf(host, lane))
  woken[#woken + 1], woken[#woken + 2] = unitOf(host, lane), host.urgency or '0'
end

local function rouse(host)
  set(host, 'asleep', nil)
  for lane = 0, LANES_MAX - 1 do
    if host['g' .. lane] then
      redis.call('ZREM', KEYS[1] .. ':due', unitOf(host, lane))
      wake(host, lane)
    end
  end
end

local function raise(host, priority)
  for lane = 0, LANES_MAX - 1 do
    if host['g' .. lane] and not host['o' .. lane] then
      raised[#raised + 1], raised[#raised + 2] = unitOf(host, lane), priority
    end
  end
end


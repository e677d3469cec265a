-- Lanes: a host with anything to do has one, and a long line has several.
--
-- Input    arrived(host, priority, length, lanes): something of that priority waits now in a line of that length; the host
--          may have so many lanes
--          openFor(host, due): something waits until then, or for an open lane's turn (absent)
--          close(host, lane)
-- Output   woken: unit, priority, …: turns whose job is owed to BullMQ
--          raised: unit, priority, …: waiting turns that have become more urgent
local LINE_PER_LANE = 64
local LANES_MAX = 16
-- A turn that nobody has seen for so long is looked after. Longer than it takes to add its job.
local OWED_MS = 3000
-- A floor under a host's delay outlives the work for that host by a day.
local FLOOR_KEPT_MS = 86400000

local function unitOf(host, lane)
  return host.name .. '~' .. lane .. '~' .. host['g' .. lane]
end

local function wake(host, lane)
  set(host, 'g' .. lane, whole(redis.call('HINCRBY', KEYS[2], 'generation', 1)))
  redis.call('ZADD', KEYS[1] .. ':due', whole(now + OWED_MS), unitOf(host, lane))
  woken[#woken + 1], woken[#woken + 2] = unitOf(host, lane), host.urgency or '0'
end

local function open(host)
  local lane = 0
  while host['g' .. lane] do
    lane = lane + 1
  end
  set(host, 'up', whole((host.up or 0) + 1))
  if host.idle then
    redis.call('PERSIST', key('host', host.name))
    set(host, 'idle', nil)
  end
  wake(host, lane)
end

-- Its only lane's job sleeps in BullMQ. A new generation takes its place; the old job will find that it is gone.
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

local function openFor(host, due)
  if not host.up then
    open(host)
  elseif host.asleep and (not due or due < tonumber(host.asleep)) then
    rouse(host)
  end
end

local function arrived(host, priority, length, lanes)
  local up = tonumber(host.up or 0)
  local isMoreUrgent = tonumber(priority) > tonumber(host.urgency or 0)
  if up == 0 or isMoreUrgent then
    set(host, 'urgency', priority ~= '0' and priority or nil)
  end
  if up > 0 and isMoreUrgent then
    raise(host, priority)
  end
  openFor(host)
  local isLong = up > 0 and length > up * LINE_PER_LANE and up < lanes
  if isLong and not host.floor and now > tonumber(host.folded or 0) then
    open(host)
  end
end

local function close(host, lane)
  redis.call('ZREM', KEYS[1] .. ':due', unitOf(host, lane))
  set(host, 'g' .. lane, nil)
  set(host, 'o' .. lane, nil)
  set(host, 'asleep', nil)
  set(host, 'up', host.up ~= '1' and whole(host.up - 1) or nil)
  if not host.up then
    set(host, 'urgency', nil)
    local keptUntil = math.max(tonumber(host.next or 0), host.floor and now + FLOOR_KEPT_MS or 0)
    if keptUntil > now then
      set(host, 'idle', '1')
      redis.call('PEXPIREAT', key('host', host.name), whole(keptUntil + 1))
    else
      redis.call('DEL', key('host', host.name))
      hosts[host.name] = { name = host.name }
    end
  end
end

-- Units that have something to do: their lanes, and the jobs that BullMQ must get.
--
-- Input    jobOf(unit, lane): name of its job; open(unit): another lane, if there may be one; rouse(unit): its lanes whose job sleeps in BullMQ get
--          another generation: the old job will find that it is over. A lane that a worker has keeps its own
--          arrived(unit, priority): something of that priority may be taken now
--          arrivedLater(unit, dueMs): something may be taken then
--          caller: the worker that runs this script, nil for one that is not named; toCaller: nil, or a list for what it is told itself
-- Output   woken: job, priority, …: jobs that are owed to BullMQ
--          raised: job, priority, …: jobs that wait there and have become more urgent
--          Whoever holds a unit and rests is told that something has come, or that a slot of which it has what waits is more urgent than it
--          knows. The caller hears nothing of it, or by toCaller: unit, priority, slot or '', …

local caller, toCaller

local function jobOf(unit, lane)
  return unit.name .. '~' .. lane .. '~' .. unit['g' .. lane]
end

local function wake(unit, lane)
  set(unit, 'g' .. lane, whole(redis.call('HINCRBY', KEYS[2], 'generation', 1)))
  redis.call('ZADD', KEYS[1] .. ':due', whole(now), jobOf(unit, lane))
  woken[#woken + 1], woken[#woken + 2] = jobOf(unit, lane), unit.urgency or '0'
end

local function open(unit)
  local lane = 0
  while unit['g' .. lane] do
    lane = lane + 1
  end
  if lane >= LANES_MAX then
    return
  end
  set(unit, 'up', whole((unit.up or 0) + 1))
  wake(unit, lane)
end

local function rouse(unit)
  set(unit, 'asleep', nil)
  for lane = 0, LANES_MAX - 1 do
    if unit['g' .. lane] and not unit['o' .. lane] then
      redis.call('ZREM', KEYS[1] .. ':due', jobOf(unit, lane))
      wake(unit, lane)
    end
  end
end

-- Of several lanes the first that has one: its first lanes may be closed.
local function holderOf(unit)
  for lane = 0, LANES_MAX - 1 do
    local owner = unit['o' .. lane]
    if owner then
      return string.match(owner, '^(.*)/%d+$')
    end
  end
end

-- slot: the one that has become more urgent, absent: something may be taken of the unit.
local function nudge(unit, priority, slot)
  local holder = holderOf(unit)
  if not holder or (holder == caller and not toCaller) then
    return
  end
  if not slot then
    set(unit, 'rests', nil)
  end
  if holder == caller then
    for _, told in ipairs({ unit.name, priority, slot or '' }) do
      toCaller[#toCaller + 1] = told
    end
  else
    local named = slot and '\n' .. slot or ''
    redis.call('PUBLISH', KEYS[1] .. ':nudges', holder .. '\n' .. priority .. '\n' .. unit.name .. named)
  end
end

local function raise(unit, priority)
  for lane = 0, LANES_MAX - 1 do
    if unit['g' .. lane] and not unit['o' .. lane] then
      raised[#raised + 1], raised[#raised + 2] = jobOf(unit, lane), priority
    end
  end
end

local function arrived(unit, priority)
  local isMoreUrgent = tonumber(priority) > tonumber(unit.urgency or 0)
  if not unit.up or isMoreUrgent then
    set(unit, 'urgency', priority ~= '0' and priority or nil)
  end
  if not unit.up then
    return open(unit)
  elseif unit.asleep then
    rouse(unit)
  elseif isMoreUrgent then
    raise(unit, priority)
  end
  if unit.rests or isMoreUrgent then
    nudge(unit, priority)
  end
end

local function arrivedLater(unit, dueMs)
  if not unit.up then
    open(unit)
  elseif unit.asleep and dueMs < tonumber(unit.asleep) then
    rouse(unit)
  elseif unit.rests then
    nudge(unit, '0')
  end
end

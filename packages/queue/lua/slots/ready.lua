-- The slots of a bucket that may be taken, in lists by the priority of what goes next. A slot that becomes more urgent stands in
-- two lists: what its line does not say any more is passed over.
--
-- Input    stand(line, priority): the slot is ready; priority of what goes next of it, nil: nothing waits
--          append(bucket, slot, priority, texts), prepend(…): to the end or the head of the slot's line, in order
--          headOfBucket(unit): priority of what goes next, nil when no slot is ready, and how many slots are at it
--          nextReady(unit, most): up to so many lines of the head's priority, off the list; each with head, the priority of what goes next
--          wait(line, dueMs): later
--          joinLater(unit, ahead, most): those whose time comes within so many ms become ready. Where no other slot is, all of them have
--          priority 0 and the order is not LIFO, the first `most` are returned, as nextReady would, and stand in no list. most absent: none
-- Output   joinLater → when the next one's time comes (ms), nil when there is none; the lines that it returns
local MAX_LATER_PER_CALL = 100
-- What most lines of a script are, the next one is likely to be.
local areNew = true

local function stand(line, priority)
  local unit = unitOf(line.bucket)
  save(line, 'r', priority, priority or false)
  if not line.state then
    return
  end
  redis.call('RPUSH', key('ready', line.bucket, priority), line.slot)
  if priority ~= '0' then
    redis.call('ZADD', key('urgent', line.bucket), priority, priority)
    set(unit, 'urgent', '1')
  end
  arrived(unit, priority)
end

local function wait(line, dueMs)
  local unit = unitOf(line.bucket)
  local head = headOf(line)
  save(line, 'l', head or '0', head or false)
  if not line.state then
    return
  end
  redis.call('ZADD', key('later', line.bucket), whole(dueMs), line.slot)
  -- Whoever has the unit, or it is asleep for, knows when the first one's time comes, and learns of the next one then.
  if not unit.later or dueMs < tonumber(unit.later) then
    set(unit, 'later', whole(dueMs))
    arrivedLater(unit, dueMs)
  end
end

local function goesAtOf(bucket, slot)
  return unitOf(bucket).paced and mayGoAt(recordOf(slot)) or 0
end

local function begins(line, priority, goesAt)
  if goesAt > now then
    wait(line, goesAt)
  else
    stand(line, priority)
  end
end

-- What its state is stays; something has come to it.
local function grown(line, priority)
  if not line.state then
    begins(line, priority, goesAtOf(line.bucket, line.slot))
  elseif line.state == 'r' and tonumber(priority) > tonumber(line.priority) then
    stand(line, priority)
  elseif line.state == 'w' and tonumber(priority) > tonumber(line.priority) then
    save(line, 'w', priority, priority)
    nudge(unitOf(line.bucket), priority, line.slot)
  else
    save(line, line.state, line.priority, priority)
    if line.state == 'h' then
      arrived(unitOf(line.slot), priority)
    end
  end
end

local function append(bucket, slot, priority, texts)
  local line, text = longLines[slot], texts[1]
  -- Where slots are new no line is read.
  if not line and areNew and #texts == 1 and #text <= LINE_BYTES_MAX then
    local goesAt = goesAtOf(bucket, slot)
    local state = goesAt > now and 'l' or 'r'
    local value = state .. priority .. '\n' .. priority .. ' ' .. #text .. '\n' .. text
    if redis.call('HSETNX', key('lines', bucket), slot, value) == 1 then
      moved.waiting = moved.waiting + 1
      local from = #priority + 3
      return begins({
        bucket = bucket, slot = slot, state = state, priority = priority, stored = value,
        text = value, from = from, at = from, count = 1, same = priority,
      }, priority, goesAt)
    end
  end
  line = line or lineOf(bucket, slot)
  areNew = not line.state
  add(line, priority, texts, false)
  grown(line, priority)
end

local function prepend(bucket, slot, priority, texts)
  local line = lineOf(bucket, slot)
  add(line, priority, texts, true)
  grown(line, priority)
end

local function headOfBucket(unit)
  local top = unit.urgent and redis.call('ZREVRANGE', key('urgent', unit.name), 0, 0)[1] or nil
  if not top or tonumber(top) <= 0 then
    local length = redis.call('LLEN', key('ready', unit.name, '0'))
    if length > 0 or not top then
      return length > 0 and '0' or nil, length
    end
  end
  return top, redis.call('LLEN', key('ready', unit.name, top))
end

local function listEnded(unit, priority)
  if priority ~= '0' and redis.call('EXISTS', key('ready', unit.name, priority)) == 0 then
    redis.call('ZREM', key('urgent', unit.name), priority)
    set(unit, 'urgent', redis.call('EXISTS', key('urgent', unit.name)) == 1 and '1' or nil)
  end
end

local function nextReady(unit, most)
  local lines, priority = {}, headOfBucket(unit)
  if not priority then
    return lines
  end
  local pop = order == 'lifo' and 'RPOP' or 'LPOP'
  local slots = redis.call(pop, key('ready', unit.name, priority), most) or {}
  listEnded(unit, priority)
  if #slots == 0 then
    return lines
  end
  for _, line in ipairs(linesOf(unit.name, slots)) do
    if line and line.state == 'r' and line.priority == priority then
      lines[#lines + 1], line.head = line, priority
    end
  end
  return lines, true
end

local function joinLater(unit, ahead, most)
  local first, given = tonumber(unit.later), {}
  if not first or first > now + ahead then
    return first, given
  end
  local later, lines = key('later', unit.name), {}
  local due = redis.call('ZRANGEBYSCORE', later, '-inf', whole(now + ahead), 'LIMIT', 0, MAX_LATER_PER_CALL)
  if #due > 0 then
    redis.call('ZREM', later, unpack(due))
    for _, line in ipairs(linesOf(unit.name, due)) do
      if line and line.state == 'l' then
        lines[#lines + 1] = line
      end
    end
  end
  local mayGive = #lines > 0 and (most or 0) > 0 and order ~= 'lifo' and not headOfBucket(unit)
  for _, line in ipairs(lines) do
    line.head = headOf(line)
    mayGive = mayGive and line.head == '0'
  end
  saveTogether(unit.name, function()
    for i, line in ipairs(lines) do
      if mayGive and i <= most then
        given[i] = line
      else
        stand(line, line.head)
      end
    end
  end)
  first = tonumber(redis.call('ZRANGE', later, 0, 0, 'WITHSCORES')[2])
  set(unit, 'later', first and whole(first) or nil)
  return first, given
end

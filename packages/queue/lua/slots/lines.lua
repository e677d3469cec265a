-- The line of a slot, in which its requests wait.
--
-- A line of a bucket is one field, "<state><priority>\n<requests>". Most slots have one request or two: in such a short line these stand there one
-- after another, "<priority> <length>\n<request>" each. A long line is "@" and has lists of its own; "@0" as long as no request
-- of another priority than 0 has come to these. priority: of the list of ready slots that has it; with the holder, of the most urgent that the holder knows of.
--
--     none ── append ──► r ready ── take ──► w with the holder, of which something waits ── the rest is taken ──► none
--                        ▲  ▲ └─ too early ──► l later ◄───────── return ──┤
--                        │  └───────── return ─────────────────────────────┘
--                        └── due ── l                        h hot: its own unit has it
--
-- Input    lineOf(bucket, slot, value): the line, value as read or absent
--          add(line, priority, texts, isHead): to its end or head, in order
--          takeOff(line, most)
--          save(line, state, priority, head): as changed; a line without requests goes. head: as headOf has it, absent: it is read
--          saveTogether(bucket, body): lines of that bucket that body() saves go to Redis after it, as saved last; it reads none
--          linesOf(bucket, slots): the lines of these, in order, false for one that has none or was named before
--          frontOf(line)
-- Output   lineOf → {bucket, slot, state, priority}, state nil for none; of a short line also what slots/short-line.lua says; hasPriorities: of lists
--          longLines[slot]: one with lists, as last read or saved
--          takeOff → {{priority, text}, …}
--          frontOf → priority of what goes next, nil when nothing waits; how many wait, about: of lists those of that priority
local LINE_BYTES_MAX = 1024
local longLines = {}
local saves

local function lineOf(bucket, slot, value)
  if value == nil then
    assert(not saves, 'a line is read while others are saved')
    value = redis.call('HGET', key('lines', bucket), slot)
  end
  if not value then
    return { bucket = bucket, slot = slot, text = '', from = 1, at = 1, count = 0 }
  end
  local state, priority, from = string.match(value, '^(%a)(%-?%d+)\n()')
  if string.byte(value, from) ~= 64 then
    return { bucket = bucket, slot = slot, state = state, priority = priority, stored = value, text = value, from = from, at = from }
  end
  local hasPriorities = string.byte(value, from + 1) ~= 48
  longLines[slot] = { bucket = bucket, slot = slot, state = state, priority = priority, stored = value, hasPriorities = hasPriorities }
  return longLines[slot]
end

local function linesOf(bucket, slots)
  assert(not saves, 'lines are read while others are saved')
  local lines, seen = {}, {}
  for i, value in ipairs(#slots > 0 and redis.call('HMGET', key('lines', bucket), unpack(slots)) or {}) do
    local slot = slots[i]
    lines[i], seen[slot] = value and not seen[slot] and lineOf(bucket, slot, value), true
  end
  return lines
end

local function hasList(line, priority)
  if priority ~= '0' then
    redis.call('ZADD', key('prios', line.slot), priority, priority)
    line.hasPriorities = true
  end
end

local function toList(line, priority, texts, isHead)
  local list = key('line', line.slot, priority)
  if isHead then
    for i = #texts, 1, -1 do
      redis.call(order == 'lifo' and 'RPUSH' or 'LPUSH', list, texts[i])
    end
  else
    redis.call('RPUSH', list, unpack(texts))
  end
  hasList(line, priority)
end

local function spill(line)
  for _, entry in ipairs(entriesOf(line)) do
    redis.call('RPUSH', key('line', line.slot, entry[1]), entry[2])
    hasList(line, entry[1])
  end
  line.text = nil
end

local function add(line, priority, texts, isHead)
  moved.waiting = moved.waiting + #texts
  if line.text and isOver(line, texts, LINE_BYTES_MAX) then
    spill(line)
  end
  if line.text then
    addShort(line, priority, texts, isHead)
  else
    toList(line, priority, texts, isHead)
  end
end

local function headOfLists(line)
  local top = line.hasPriorities and redis.call('ZREVRANGE', key('prios', line.slot), 0, 0)[1] or nil
  if top and tonumber(top) > 0 then
    return top
  end
  return redis.call('EXISTS', key('line', line.slot, '0')) == 1 and '0' or top
end

local function headOf(line)
  if line.text then
    return headOfShort(line)
  end
  return headOfLists(line)
end

local function takeOffLists(line, most)
  local taken, pop = {}, order == 'lifo' and 'RPOP' or 'LPOP'
  while #taken < most do
    local priority = line.hasPriorities and headOfLists(line) or '0'
    local list = key('line', line.slot, priority)
    local texts = redis.call(pop, list, most - #taken)
    if not texts then
      break
    end
    for _, text in ipairs(texts) do
      taken[#taken + 1] = { priority, text }
    end
    if priority ~= '0' and redis.call('EXISTS', list) == 0 then
      redis.call('ZREM', key('prios', line.slot), priority)
    end
  end
  return taken
end

local function takeOff(line, most)
  local taken = line.text and takeOffShort(line, most) or takeOffLists(line, most)
  moved.waiting = moved.waiting - #taken
  return taken
end

local function longValue(line, state, priority)
  return state .. priority .. (line.hasPriorities and '\n@' or '\n@0')
end

local function saveTogether(bucket, body)
  saves = { bucket = bucket, values = {} }
  body()
  local lines, changed, gone = key('lines', bucket), {}, {}
  for slot, value in pairs(saves.values) do
    if value then
      changed[#changed + 1], changed[#changed + 2] = slot, value
    else
      gone[#gone + 1] = slot
    end
  end
  if #changed > 0 then
    redis.call('HSET', lines, unpack(changed))
  end
  if #gone > 0 then
    redis.call('HDEL', lines, unpack(gone))
  end
  saves = nil
end

-- value: false where nothing of it waits any more
local function write(line, value)
  assert(not saves or saves.bucket == line.bucket, 'a line of another bucket is saved')
  if saves then
    saves.values[line.slot] = value
  elseif value then
    redis.call('HSET', key('lines', line.bucket), line.slot, value)
  else
    redis.call('HDEL', key('lines', line.bucket), line.slot)
  end
end

local function save(line, state, priority, head)
  if head == nil then
    head = headOf(line)
  end
  if not head then
    write(line, false)
    line.state, line.stored, longLines[line.slot] = nil, nil, nil
    return
  end
  local value = line.text and renewText(line, state, priority) or longValue(line, state, priority)
  line.state, line.priority = state, priority
  if value ~= line.stored then
    write(line, value)
    line.stored = value
  end
  longLines[line.slot] = not line.text and line or nil
end

local function frontOf(line)
  if line.text then
    return headOfShort(line), countOf(line)
  end
  local head = line.hasPriorities and headOfLists(line) or '0'
  local length = redis.call('LLEN', key('line', line.slot, head))
  return length > 0 and head or nil, length
end

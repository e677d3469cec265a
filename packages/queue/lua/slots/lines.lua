-- The line of a slot, in which its requests wait.
--
-- A line of a bucket is one field, "<state><priority>\n<requests>". Most slots have one request or two: these stand there one
-- after another, "<priority> <length>\n<request>" each. A longer line is "@" and has lists of its own; "@0" as long as no request
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
--          frontOf(line)
-- Output   lineOf → {bucket, slot, state, priority, entries or nil for one with lists}, state nil for none; hasPriorities: of lists
--          longLines[slot]: one with lists, as last read or saved
--          takeOff → {{priority, text}, …}
--          frontOf → priority of what goes next, nil when nothing waits; how many wait, about: of lists those of that priority
local LINE_BYTES_MAX = 1024
local longLines = {}

local function lineOf(bucket, slot, value)
  if value == nil then
    value = redis.call('HGET', key('lines', bucket), slot)
  end
  if not value then
    return { bucket = bucket, slot = slot, entries = {} }
  end
  local state, priority, from = string.match(value, '^(%a)(%-?%d+)\n()')
  local line = { bucket = bucket, slot = slot, state = state, priority = priority, stored = value }
  if string.byte(value, from) == 64 then
    line.hasPriorities, longLines[slot] = string.byte(value, from + 1) ~= 48, line
    return line
  end
  line.entries = {}
  while from <= #value do
    local of, length, start = string.match(value, '^(%-?%d+) (%d+)\n()', from)
    line.entries[#line.entries + 1] = { of, string.sub(value, start, start + length - 1) }
    from = start + length
  end
  return line
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

local function bytesOf(entries)
  local bytes = 0
  for _, entry in ipairs(entries) do
    bytes = bytes + #entry[2]
  end
  return bytes
end

local function spill(line)
  for _, entry in ipairs(line.entries) do
    redis.call('RPUSH', key('line', line.slot, entry[1]), entry[2])
    hasList(line, entry[1])
  end
  line.entries = nil
end

local function add(line, priority, texts, isHead)
  moved.waiting = moved.waiting + #texts
  local entries = line.entries
  if not entries then
    return toList(line, priority, texts, isHead)
  end
  for i = 1, #texts do
    local text = texts[isHead and #texts + 1 - i or i]
    -- Where the last that came goes first, the head is the end.
    table.insert(entries, isHead and order ~= 'lifo' and 1 or #entries + 1, { priority, text })
  end
  if bytesOf(entries) > LINE_BYTES_MAX then
    spill(line)
  end
end

local function headOfLists(line)
  local top = line.hasPriorities and redis.call('ZREVRANGE', key('prios', line.slot), 0, 0)[1] or nil
  if top and tonumber(top) > 0 then
    return top
  end
  return redis.call('EXISTS', key('line', line.slot, '0')) == 1 and '0' or top
end

-- The index of what goes next of a short line.
local function firstOf(entries)
  local first = order == 'lifo' and #entries or 1
  if order == 'priority' then
    for i = 2, #entries do
      if tonumber(entries[i][1]) > tonumber(entries[first][1]) then
        first = i
      end
    end
  end
  return entries[first] and first or nil
end

local function headOf(line)
  if not line.entries then
    return headOfLists(line)
  end
  local first = firstOf(line.entries)
  return first and line.entries[first][1] or nil
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
  local taken = {}
  if not line.entries then
    taken = takeOffLists(line, most)
  end
  while line.entries and #taken < most do
    local first = firstOf(line.entries)
    if not first then
      break
    end
    taken[#taken + 1] = table.remove(line.entries, first)
  end
  moved.waiting = moved.waiting - #taken
  return taken
end

local function save(line, state, priority, head)
  if head == nil then
    head = headOf(line)
  end
  if not head then
    redis.call('HDEL', key('lines', line.bucket), line.slot)
    line.state, longLines[line.slot] = nil, nil
    return
  end
  local parts = { state .. priority .. '\n' }
  for _, entry in ipairs(line.entries or {}) do
    parts[#parts + 1] = entry[1] .. ' ' .. #entry[2] .. '\n' .. entry[2]
  end
  if not line.entries then
    parts[2] = line.hasPriorities and '@' or '@0'
  end
  line.state, line.priority = state, priority
  local value = table.concat(parts)
  if value ~= line.stored then
    redis.call('HSET', key('lines', line.bucket), line.slot, value)
    line.stored = value
  end
  longLines[line.slot] = not line.entries and line or nil
end

local function frontOf(line)
  if line.entries then
    return headOf(line), #line.entries
  end
  local head = line.hasPriorities and headOfLists(line) or '0'
  local length = redis.call('LLEN', key('line', line.slot, head))
  return length > 0 and head or nil, length
end

-- A short line, see slots/lines.lua, as the one text that Redis has of it. To cut that into a string for each request, and to join these again, would
-- cost time for all that wait, whenever one comes or goes.
--
-- Input    a line: text, with its state and priority first, nil for a long line; from: where its requests begin; at: where those begin that wait still,
--          what is before has been taken off; count, how many these are, and same, the priority that all have or false: absent as long as nobody
--          has counted. order, see slots/keys.lua
--          addShort(line, priority, texts, isHead), takeOffShort(line, most), setEntries(line, entries): change it
--          isOver(line, texts, max): whether its requests have more bytes with these
--          renewText(line, state, priority): the text says these, and has only what waits
-- Output   headOfShort → priority of what goes next, nil when nothing waits; countOf → how many wait; entriesOf, takeOffShort → {{priority, text}, …};
--          renewText → the text
local function entryAt(text, at)
  local priority, length, from = string.match(text, '^(%-?%d+) (%d+)\n()', at)
  return priority, from, from + length
end

local function countOf(line)
  if line.count then
    return line.count
  end
  local text, at, count, same = line.text, line.at, 0, nil
  while at <= #text do
    local priority, _, after = entryAt(text, at)
    if count == 0 then
      same = priority
    elseif priority ~= same then
      same = false
    end
    count, at = count + 1, after
  end
  line.count, line.same = count, same
  return count
end

-- Where the request begins that goes next, and its priority.
local function firstOf(line)
  local text, at = line.text, line.at
  if countOf(line) == 0 or order == 'fifo' or (order == 'priority' and line.same) then
    return at, line.count > 0 and entryAt(text, at) or nil
  end
  local first, top
  while at <= #text do
    local priority, _, after = entryAt(text, at)
    if not first or order == 'lifo' or tonumber(priority) > tonumber(top) then
      first, top = at, priority
    end
    at = after
  end
  return first, top
end

local function headOfShort(line)
  if countOf(line) > 0 and line.same then
    return line.same
  end
  return select(2, firstOf(line))
end

local function entriesOf(line)
  local entries, text, at = {}, line.text, line.at
  while at <= #text do
    local priority, from, after = entryAt(text, at)
    entries[#entries + 1], at = { priority, string.sub(text, from, after - 1) }, after
  end
  return entries
end

local function isOver(line, texts, max)
  local bytes = 0
  for _, text in ipairs(texts) do
    bytes = bytes + #text
  end
  -- What stands before each request is counted only where it matters.
  if bytes + #line.text - line.at + 1 <= max then
    return false
  end
  for _, entry in ipairs(entriesOf(line)) do
    bytes = bytes + #entry[2]
  end
  return bytes > max
end

local function addShort(line, priority, texts, isHead)
  local added = ''
  for i = 1, #texts do
    -- Where the last that came goes first, the head is the end.
    local text = texts[isHead and order == 'lifo' and #texts + 1 - i or i]
    added = added .. priority .. ' ' .. #text .. '\n' .. text
  end
  if line.count then
    line.same = (line.count == 0 or line.same == priority) and priority
    line.count = line.count + #texts
  end
  if isHead and order ~= 'lifo' then
    line.text, line.at = string.sub(line.text, 1, line.from - 1) .. added .. string.sub(line.text, line.at), line.from
  else
    line.text = line.text .. added
  end
end

local function takeOffShort(line, most)
  local taken = {}
  while #taken < most and countOf(line) > 0 do
    local text, first = line.text, firstOf(line)
    local priority, from, after = entryAt(text, first)
    taken[#taken + 1] = { priority, string.sub(text, from, after - 1) }
    if first == line.at then
      line.at = after
    else
      line.text = string.sub(text, 1, first - 1) .. string.sub(text, after)
    end
    -- Counted anew where those that are left may be of one priority, as what goes next is then known without a search.
    line.count = (line.same or order ~= 'priority') and line.count - 1 or nil
  end
  return taken
end

local function setEntries(line, entries)
  line.text, line.at, line.count, line.same = string.sub(line.text, 1, line.from - 1), line.from, 0, nil
  for _, entry in ipairs(entries) do
    addShort(line, entry[1], { entry[2] }, false)
  end
end

local function renewText(line, state, priority)
  if line.state ~= state or line.priority ~= priority or line.at ~= line.from then
    local first = state .. priority .. '\n'
    line.text, line.from, line.at = first .. string.sub(line.text, line.at), #first + 1, #first + 1
  end
  return line.text
end

-- What is in flight on a lane.
--
-- Input    flightOf(turn, lane): key of it, on the turn's lane by default
--          startedName(unit, lane, token): of a request, in the set of those that its worker has started
--          inOrder(held): token "<batch>.<n>", "<slot>\n<priority>\n<request>", …
-- Output   inOrder → {batch, n, token, slot, priority, text}, …, the last that was taken first: so each goes back before the one
--          after it
local function flightOf(turn, lane)
  return key('flight', turn.unitName, lane or turn.lane)
end

local function startedName(unit, lane, token)
  return unit .. '~' .. lane .. ' ' .. token
end

local function readHeld(token, value)
  local batch, n = string.match(token, '^(%d+)%.(%d+)$')
  local slot, priority, text = string.match(value, '^([^\n]*)\n([^\n]*)\n(.*)$')
  return { batch = tonumber(batch), n = tonumber(n), token = token, slot = slot, priority = priority, text = text }
end

local function inOrder(held)
  local entries = {}
  for i = 1, #held, 2 do
    entries[#entries + 1] = readHeld(held[i], held[i + 1])
  end
  table.sort(entries, function(a, b)
    return a.batch > b.batch or (a.batch == b.batch and a.n > b.n)
  end)
  return entries
end

-- The bucket in which the slot of a unit's request has its line.
local function bucketOf(unit)
  return unit.bucket or unit.name
end

-- A request of a slot that has become hot is in flight in its bucket no more.
local function unmix(slot)
  local unit = unitOf(slot)
  if unit.mixed then
    set(unit, 'mixed', unit.mixed ~= '1' and whole(unit.mixed - 1) or nil)
  end
end

-- The end of a turn.
--
-- Input    leave(turn, unitStatus): a turn that holds nothing
--          answeredBefore(turn): one that is not the worker's any more: another's, or this command is sent again
-- Output   leave → "over" when nothing is left for it, "left" when its worker leaves it, or "held"
--          answeredBefore → {"lost", tokens of what was reclaimed: all else that the worker ended was done}, or what was replied then
local function hasSlots(unit)
  return not unit.bucket and redis.call('EXISTS', key('with', unit.name)) == 1
end

local function leave(turn, unitStatus)
  local unit, head, _, due = turn.unit, unpack(unitStatus)
  local isEmpty = head == '' and due == '' and not hasSlots(unit)
  local isNeedless = unit.bucket and unit.up ~= '1' and (head == '' or math.max(turn.delay, recordOf(unit.name).floor) > 0)
  if isNeedless or (isEmpty and (turn.leaves or unit.bucket)) then
    close(unit, turn.lane)
    return 'over'
  end
  if not turn.leaves or hasSlots(unit) then
    return 'held'
  end
  set(unit, 'o' .. turn.lane, nil)
  set(unit, 'rests', nil)
  set(unit, 'urgency', head ~= '' and head ~= '0' and head or nil)
  local asleep = unit.bucket and mayGoAt(recordOf(unit.name)) or head == '' and now + due or 0
  set(unit, 'asleep', asleep > now and whole(asleep) or nil)
  return 'left'
end

local function answeredBefore(turn)
  local reclaimed = redis.call('GET', KEYS[1] .. ':lost:' .. turn.owner)
  if reclaimed then
    return { 'lost', reclaimed }
  end
  local unit = turn.unit
  if unit['g' .. turn.lane] == turn.generation and not unit['o' .. turn.lane] then
    return { 'left', unitStatusOf(turn), {} }
  end
  return { 'over' }
end

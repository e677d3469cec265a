-- The end of a turn.
--
-- Input    leave(turn, standing): a turn that holds nothing
--          answeredBefore(turn): one that is not the worker's any more: another's, or this command is sent again
-- Output   leave → "over" when nothing is left for it, "left" when its worker leaves it, or "held"
--          answeredBefore → {"lost"}, or what was replied then
local function leave(turn, standing)
  local host, waitMs, head, late, pausedMs = turn.host, unpack(standing)
  local isNeedless = host.up ~= '1' and (turn.delay > 0 or head == '')
  if isNeedless or (head == '' and late == '') then
    close(host, turn.lane)
    return 'over'
  end
  if not turn.leaves then
    return 'held'
  end
  set(host, 'o' .. turn.lane, nil)
  set(host, 'urgency', head ~= '' and head ~= '0' and head or nil)
  set(host, 'asleep', head == '' and whole(now + math.max(late, waitMs, pausedMs)) or nil)
  return 'left'
end

local function answeredBefore(turn)
  if redis.call('EXISTS', KEYS[1] .. ':lost:' .. turn.owner) == 1 then
    return { 'lost' }
  end
  local host = turn.host
  if host['g' .. turn.lane] == turn.generation and not host['o' .. turn.lane] then
    return { 'left', standingOf(turn), {} }
  end
  return { 'over' }
end

-- A host's pace, and the end of a turn.
--
-- Input    pace(turn): what its worker knows of starts and floors
--          leave(turn, standing): a turn that holds nothing
--          answeredBefore(turn): one that is not the worker's any more: another's, or this command is sent again
-- Output   leave → "over" when nothing is left for it, "left" when its worker gives it up, or "held"
--          answeredBefore → {"lost"}, or what was answered then
local function pace(turn)
  local host = turn.host
  if turn.isUndone then
    set(host, 'next', host.was)
  end
  if turn.floor ~= '' then
    set(host, 'floor', turn.floor ~= '0' and turn.floor or nil)
  end
  if turn.startedAgo ~= '' then
    set(host, 'next', turn.delay > 0 and whole(now - turn.startedAgo + turn.delay) or nil)
  end
end

local function leave(turn, standing)
  local host, _, head, late = turn.host, unpack(standing)
  if head == '' and (late == '' or host.up ~= '1') then
    close(host, turn.lane)
    return 'over'
  end
  if not turn.leaves then
    return 'held'
  end
  set(host, 'o' .. turn.lane, nil)
  set(host, 'urgency', head ~= '' and head ~= '0' and head or nil)
  set(host, 'asleep', head == '' and whole(now + math.max(late, standing[1])) or nil)
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

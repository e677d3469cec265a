-- How much of a host may be taken.
--
-- Input    flightOf(turn, lane): key of what is in flight, on the turn's lane by default
--          mayTake(turn): as in turns/steps/take.lua
-- Output   mayTake → how many
local function flightOf(turn, lane)
  return key('flight', turn.host.name, lane or turn.lane)
end

local function roomIn(turn)
  local up, own = tonumber(turn.host.up or 1), redis.call('HLEN', flightOf(turn))
  if up == 1 then
    return turn.concurrency - own
  end
  local all = 0
  for lane = 0, LANES_MAX - 1 do
    if turn.host['g' .. lane] then
      all = all + redis.call('HLEN', flightOf(turn, lane))
    end
  end
  return math.min(turn.concurrency - all, math.ceil(turn.concurrency / up) - own)
end

-- A host that had no delay before may have several lanes: one goes on, and not ahead of what others have started.
local function isFirst(turn)
  for lane = 0, turn.lane - 1 do
    if turn.host['o' .. lane] then
      return false
    end
  end
  return true
end

local function mayTake(turn)
  local most, host = turn.most, turn.host
  if pausedMs(host) > 0 then
    return 0
  end
  if turn.concurrency > 0 and most > 0 then
    most = math.min(most, roomIn(turn))
  end
  if turn.delay == 0 or most <= 0 then
    return most
  end
  local isAlone = host.up == '1'
  local isDue = tonumber(host.next or 0) - now <= (isAlone and turn.ahead or 0)
  return isDue and (isAlone or isFirst(turn)) and headOf(host) and 1 or 0
end

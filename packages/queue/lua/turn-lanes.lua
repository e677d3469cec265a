-- Lanes: a host with anything to do has one, and a long line has several.
--
-- Input    arrived(host, priority, length, lanes): something of that priority waits now in a line of that length; the host
--          may have so many lanes
--          openFor(host, due): something waits until then, or for an open lane's turn (absent)
--          close(host, lane)
-- Output   see turn-wake.lua
local LINE_PER_LANE = 64
-- A floor under a host's delay outlives the work for that host by a day.
local FLOOR_KEPT_MS = 86400000

local function openFor(host, due)
  if not host.up then
    open(host)
  elseif host.asleep and (not due or due < tonumber(host.asleep)) then
    rouse(host)
  end
end

local function arrived(host, priority, length, lanes)
  local up = tonumber(host.up or 0)
  local isMoreUrgent = tonumber(priority) > tonumber(host.urgency or 0)
  if up == 0 or isMoreUrgent then
    set(host, 'urgency', priority ~= '0' and priority or nil)
  end
  if up > 0 and isMoreUrgent then
    raise(host, priority)
  end
  openFor(host)
  local isLong = up > 0 and length > up * LINE_PER_LANE and up < lanes
  if isLong and not host.floor and now > tonumber(host.folded or 0) then
    open(host)
  end
end

local function close(host, lane)
  redis.call('ZREM', KEYS[1] .. ':due', unitOf(host, lane))
  set(host, 'g' .. lane, nil)
  set(host, 'o' .. lane, nil)
  set(host, 'asleep', nil)
  set(host, 'up', host.up ~= '1' and whole(host.up - 1) or nil)
  if not host.up then
    set(host, 'urgency', nil)
    local keptUntil = math.max(tonumber(host.next or 0), host.floor and now + FLOOR_KEPT_MS or 0)
    if keptUntil > now then
      set(host, 'idle', '1')
      redis.call('PEXPIREAT', key('host', host.name), whole(keptUntil + 1))
    else
      redis.call('DEL', key('host', host.name))
      hosts[host.name] = { name = host.name }
    end
  end
end

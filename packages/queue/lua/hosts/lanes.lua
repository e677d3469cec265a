-- Lanes: a host with anything to do has one, and a long line has several.
--
-- Input    arrived(host, priority, length, lanes): something of that priority waits now in a line of that length; the host
--          may have so many lanes
--          openFor(host, due): something waits until then, or for an open lane's turn (absent)
-- Output   see hosts/wake.lua
local LINE_PER_LANE = 64

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

-- How fast a host may be asked.
--
-- Input    delayOf(host, drawn); drawn: its delay as the settings and chance have it (ms)
--          pausedMs(host)
-- Output   delayOf → with its floor in it; pausedMs → until its pause is over
local function delayOf(host, drawn)
  return math.max(drawn, tonumber(host.floor or 0))
end

local function pausedMs(host)
  return math.max(0, tonumber(host.paused or 0) - now)
end

-- How a host stands.
--
-- Input    standingOf(turn)
-- Output   {ms until its delay lets it be asked, priority of the head of its line or "", ms until something delayed may go
--          or "", ms until its pause is over, floor under its delay (ms), failures}
local function standingOf(turn)
  local host, late = turn.host, joinLate(turn.host)
  return {
    math.max(0, tonumber(host.next or 0) - now),
    headOf(host) or '',
    late and math.max(0, late - now) or '',
    pausedMs(host),
    tonumber(host.floor or 0),
    tonumber(host.failures or 0),
  }
end

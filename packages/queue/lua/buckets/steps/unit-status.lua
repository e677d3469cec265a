-- The status of a unit: what waits there.
--
-- Input    unitStatusOf(turn)
-- Output   {priority of what goes next or "", how many slots are ready at it (of a hot slot: requests), ms until something that must
--          wait may go or ""}; of a hot slot also {…, ms until its delay lets it be asked, floor, failures, ms until its pause is over}
local function unitStatusOf(turn)
  local unit = turn.unit
  if unit.bucket then
    local line, record = lineOf(unit.bucket, unit.name), recordOf(unit.name)
    local head, length = frontOf(line)
    return { head or '', length, '', math.max(0, record.next - now), record.floor, record.failures,
      math.max(0, record.paused - now) }
  end
  local late, later = joinLate(unit), joinLater(unit, 0)
  local head, ready = headOfBucket(unit)
  local due = math.min(late or math.huge, later or math.huge)
  return { head or '', ready, due < math.huge and math.max(0, due - now) or '' }
end

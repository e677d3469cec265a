-- Notes the visit of a page, and puts the page at its next hour. A visit that is known is passed over: it was sent before.
--
-- Input    placeOf, putOnWheel; keepVisit(base, name, record, request): 8 bytes of the fingerprint, record, how to ask again
-- Output   nothing

-- All but the hour, which may have been moved since, and whether it is in a line: a page may be visited twice in a second.
local function visitIn(record)
  return string.sub(record, 2, 5) .. string.sub(record, 10)
end

local function keepVisit(base, name, record, request)
  local before = redis.call('HGET', placeOf(base, name))
  if before and visitIn(before) == visitIn(record) then
    return
  end
  putOnWheel(base, name, before, record, request)
end

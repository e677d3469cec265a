-- Notes the visit of a page, and puts the page at its next hour. A visit that is known is passed over: it was sent before.
--
-- Input    placeOf, timesOf, putOnWheel; keepVisit(base, name, record, request): 8 bytes of the fingerprint, record, how to ask again
-- Output   nothing
local function keepVisit(base, name, record, request)
  local before = redis.call('HGET', placeOf(base, name))
  if before and timesOf(before) == timesOf(record) then
    return
  end
  putOnWheel(base, name, before, record, request)
end

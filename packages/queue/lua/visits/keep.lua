-- Notes the visit of a page, and puts the page at its next hour. A visit that is known is passed over: it was sent before.
--
-- Input    keyAndField, putOnWheel; keepVisit(base, name, record, request): 8 bytes of the fingerprint, record, how to ask again
-- Output   nothing

local function keepVisit(base, name, record, request)
  local before = redis.call('HGET', keyAndField(base, name))
  -- All but whether it is in a line: a page may be visited twice in a second.
  if before and string.sub(before, 2) == string.sub(record, 2) then
    return
  end
  putOnWheel(base, name, before, record, request)
end

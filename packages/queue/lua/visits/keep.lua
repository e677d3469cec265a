-- Notes the visit of a page, and puts the page at its next hour. A visit that is known is passed over: it was sent before.
--
-- Input    placeOf, timesOf, counted, sampled; keepVisit(base, name, record, request): 8 bytes of the fingerprint, record, how to ask again
--          keepName(base, short, text): a short name in `request`, and what it stands for
-- Output   nothing
local function keepName(base, short, text)
  redis.call('HSETNX', base .. ':names', short, text)
end

local function keepVisit(base, name, record, request)
  local key, field = placeOf(base, name)
  local before = redis.call('HGET', key, field)
  local visited, due = timesOf(record)
  if before and timesOf(before) == visited then
    return
  end
  local span = string.format('%.0f', math.floor(due / SPAN_S))
  redis.call('HSET', key, field, record)
  redis.call('RPUSH', base .. ':due:' .. span, name .. request)
  redis.call('ZADD', base .. ':spans', span, span)
  counted(base, before, record)
  sampled(base, name, record)
end

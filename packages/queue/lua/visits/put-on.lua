-- Puts a page at its hour, in the wheel and in its record.
--
-- Input    keyAndField, timesOf, counted, sampled; putOnWheel(base, name, before, record, request): 8 bytes of the fingerprint, the record that is there
--          or false, the new one, how to ask again
--          keepName(base, short, text): a short name in `request`, and what it stands for
-- Output   nothing
local function keepName(base, short, text)
  redis.call('HSETNX', base .. ':names', short, text)
end

local function putOnWheel(base, name, before, record, request)
  local key, field = keyAndField(base, name)
  local _, due = timesOf(record)
  local span = string.format('%.0f', math.floor(due / SPAN_S))
  redis.call('HSET', key, field, record)
  redis.call('RPUSH', base .. ':due:' .. span, request)
  redis.call('ZADD', base .. ':spans', span, span)
  counted(base, before, record)
  sampled(base, name, record)
end

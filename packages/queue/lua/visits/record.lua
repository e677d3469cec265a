-- Notes visits, and puts each page at its next hour. A visit that is known is passed over: it was sent before.
--
-- Input    placeOf, timesOf, counted, sampled; KEYS[1] base; ARGV[2…] names: of each short name and what it stands for; pages: of each 8 bytes of
--          its fingerprint, record, how to ask again
-- Output   nothing
local base = KEYS[1]
for _ = 1, number() do
  local short, text = arg(), arg()
  redis.call('HSETNX', base .. ':names', short, text)
end
for _ = 1, number() do
  local name, record, request = arg(), arg(), arg()
  local key, field = placeOf(base, name)
  local before = redis.call('HGET', key, field)
  local visited, due = timesOf(record)
  if not before or timesOf(before) ~= visited then
    local span = string.format('%.0f', math.floor(due / SPAN_S))
    redis.call('HSET', key, field, record)
    redis.call('RPUSH', base .. ':due:' .. span, name .. request)
    redis.call('ZADD', base .. ':spans', span, span)
    counted(base, before, record)
    sampled(base, name, record)
  end
end

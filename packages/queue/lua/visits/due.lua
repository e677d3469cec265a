-- Reads entries of the earliest time that has come.
--
-- Input    placeOf, isDue; KEYS[1] base; ARGV[1] now (s), ARGV[2] most entries
-- Output   nothing when no time has come; else {span, then of each entry: entry, and its record or "" when it counts no more}
local base = KEYS[1]
local span = redis.call('ZRANGE', base .. ':spans', 0, 0)[1]
if not span or tonumber(span) * SPAN_S > tonumber(ARGV[1]) then
  return {}
end
local read = { span }
for _, entry in ipairs(redis.call('LRANGE', base .. ':due:' .. span, 0, ARGV[2] - 1)) do
  local record = redis.call('HGET', placeOf(base, entry))
  read[#read + 1] = entry
  read[#read + 1] = isDue(record, span) and record or ''
end
return read

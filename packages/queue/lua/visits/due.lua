-- Reads entries of the earliest time that has come.
--
-- Input    KEYS[1] base; ARGV[1] now (s), ARGV[2] most entries
-- Output   nothing when no time has come; else {span, entries}
local base = KEYS[1]
local span = redis.call('ZRANGE', base .. ':spans', 0, 0)[1]
if not span or tonumber(span) * SPAN_S > tonumber(ARGV[1]) then
  return {}
end
local read = redis.call('LRANGE', base .. ':due:' .. span, 0, ARGV[2] - 1)
table.insert(read, 1, span)
return read

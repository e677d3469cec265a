-- Takes entries that were read off the wheel, and marks their pages as in a line. Entries that another worker has taken meanwhile are passed over.
--
-- Input    placeOf, isDue; takeOffWheel(base, span, names): the first 8 bytes of each entry, in order
-- Output   of each page that was due until now, the 8 bytes
local function takeOffWheel(base, span, names)
  local list = base .. ':due:' .. span
  local here, taken, marked = redis.call('LRANGE', list, 0, #names - 1), 0, {}
  -- Where another worker took some, what is left begins later in what was read.
  local at = 1
  while here[1] and at <= #names and string.sub(here[1], 1, 8) ~= names[at] do
    at = at + 1
  end
  while at <= #names and here[taken + 1] and string.sub(here[taken + 1], 1, 8) == names[at] do
    local key, field = placeOf(base, names[at])
    local record = redis.call('HGET', key, field)
    if isDue(record, span) then
      redis.call('HSET', key, field, string.char(string.byte(record, 1) + IN_A_LINE) .. string.sub(record, 2))
      marked[#marked + 1] = names[at]
    end
    taken, at = taken + 1, at + 1
  end
  redis.call('LTRIM', list, taken, -1)
  if redis.call('EXISTS', list) == 0 then
    redis.call('ZREM', base .. ':spans', span)
  end
  return marked
end

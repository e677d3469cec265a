-- Puts pages at the time of an entry that has come up, where their fingerprints lead to no time that is to come: FINGERPRINTER makes others than
-- before. One that is not known begins anew. One that has its old fingerprint again keeps what is known of it: it is at a time whose
-- entries have all come up. Pages that were forgotten, are in a line or wait for another time are passed over.
--
-- Input    keyAndField, timesOf, putOnWheel; KEYS[1] base; ARGV[2…] span; pages: of each 8 bytes of its fingerprint, the record of a page that was
--          never visited and is due in the span, how to ask again
-- Output   of each its record when it was put there, else false
local base, span, moved = KEYS[1], number(), {}

local function recordAnew(name, fresh)
  local before = redis.call('HGET', keyAndField(base, name))
  if not before then
    return not redis.call('ZSCORE', base .. ':forgotten', name) and fresh, before
  end
  local _, due, isInALine = timesOf(before)
  local time = math.floor(due / SPAN_S)
  if isInALine or time >= span or redis.call('ZSCORE', base .. ':spans', string.format('%.0f', time)) then
    return false, before
  end
  return string.sub(before, 1, 5) .. string.sub(fresh, 6, 9) .. string.sub(before, 10), before
end

for i = 1, number() do
  local name, fresh, request = arg(), arg(), arg()
  local record, before = recordAnew(name, fresh)
  moved[i] = record
  if record then
    putOnWheel(base, name, before, record, request)
  end
end
return moved

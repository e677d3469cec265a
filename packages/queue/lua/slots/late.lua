-- Where requests wait whose own time has not come.
--
-- Input    delay(unit, bucket, slot, priority, ms, unique, text): not before so many ms from now
--          joinLate(unit): those whose time has come go to the end of their line
-- Output   joinLate → when the next one's time comes (ms), nil when there is none
local MAX_LATE_PER_CALL = 100

local function delay(bucket, slot, priority, ms, unique, text)
  local unit = unitOf(bucket)
  redis.call('ZADD', key('late', bucket), whole(now + ms), slot .. '\n' .. priority .. '\n' .. unique .. '\n' .. text)
  moved.delayed = moved.delayed + 1
  set(unit, 'late', '1')
  arrivedLater(unit, now + ms)
end

local function joinLate(unit)
  if not unit.late then
    return nil
  end
  local late = key('late', unit.name)
  local due = redis.call('ZRANGEBYSCORE', late, '-inf', whole(now), 'LIMIT', 0, MAX_LATE_PER_CALL)
  for _, member in ipairs(due) do
    local slot, priority, text = string.match(member, '^([^\n]*)\n([^\n]*)\n[^\n]*\n(.*)$')
    redis.call('ZREM', late, member)
    append(unit.name, slot, priority, { text })
  end
  moved.delayed = moved.delayed - #due
  local first = tonumber(redis.call('ZRANGE', late, 0, 0, 'WITHSCORES')[2])
  set(unit, 'late', first and '1' or nil)
  return first
end

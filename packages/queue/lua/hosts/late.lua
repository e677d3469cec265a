-- Where requests wait whose own time has not come. Most hosts have none: their field `late` saves the look.
--
-- Input    delay(host, priority, ms, unique, text): not before so many ms from now
--          joinLate(host): those whose time has come go to the end of their line
-- Output   joinLate(host): when the next one's time comes (ms), nil when there is none
local LATE_AT_ONCE = 100

local function delay(host, priority, ms, unique, text)
  redis.call('ZADD', key('late', host.name), whole(now + ms), priority .. '\n' .. unique .. '\n' .. text)
  moved.delayed = moved.delayed + 1
  set(host, 'late', '1')
  openFor(host, now + ms)
end

local function joinLate(host)
  if not host.late then
    return nil
  end
  local late = key('late', host.name)
  local due = redis.call('ZRANGEBYSCORE', late, '-inf', whole(now), 'LIMIT', 0, LATE_AT_ONCE)
  for _, member in ipairs(due) do
    local priority, text = string.match(member, '^([^\n]*)\n[^\n]*\n(.*)$')
    redis.call('ZREM', late, member)
    redis.call('RPUSH', key('line', host.name, priority), text)
    hasLine(host, priority)
  end
  moved.waiting, moved.delayed = moved.waiting + #due, moved.delayed - #due
  local first = tonumber(redis.call('ZRANGE', late, 0, 0, 'WITHSCORES')[2])
  set(host, 'late', first and '1' or nil)
  return first
end

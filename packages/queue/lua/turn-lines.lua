-- A host's line, in which requests wait, and where those wait whose own time has not come.
--
-- Input    append(host, priority, lanes, texts), putBack(host, priority, texts): to the end, to the head, in order
--          delay(host, priority, ms, unique, text): not before so many ms from now
--          joinLate(host): those whose time has come go to the end of their line
-- Output   headOf(host): priority of what goes next, nil when nothing waits
--          joinLate(host): when the next one's time comes (ms), nil when there is none
local LATE_AT_ONCE = 100

-- Most hosts have one line and nothing delayed: their fields `prios` and `late` spare them the look.
local function hasLine(host, priority)
  if priority ~= '0' then
    redis.call('ZADD', key('prios', host.name), priority, priority)
    set(host, 'prios', '1')
  end
end

local function lineEnded(host, priority)
  if priority ~= '0' then
    redis.call('ZREM', key('prios', host.name), priority)
    set(host, 'prios', redis.call('EXISTS', key('prios', host.name)) == 1 and '1' or nil)
  end
end

local function append(host, priority, lanes, texts)
  local length = redis.call('RPUSH', key('line', host.name, priority), unpack(texts))
  hasLine(host, priority)
  moved.waiting = moved.waiting + #texts
  arrived(host, priority, length, lanes)
end

local function putBack(host, priority, texts)
  local push = order == 'lifo' and 'RPUSH' or 'LPUSH'
  for i = #texts, 1, -1 do
    redis.call(push, key('line', host.name, priority), texts[i])
  end
  hasLine(host, priority)
  moved.waiting = moved.waiting + #texts
  arrived(host, priority, 0, 0)
end

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

local function headOf(host)
  local top = host.prios and redis.call('ZREVRANGE', key('prios', host.name), 0, 0)[1] or nil
  if top and tonumber(top) > 0 then
    return top
  end
  return redis.call('EXISTS', key('line', host.name, '0')) == 1 and '0' or top
end

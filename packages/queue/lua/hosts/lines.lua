-- A host's line, in which requests wait.
--
-- Input    append(host, priority, lanes, texts), putBack(host, priority, texts): to the end, to the head, in order
-- Output   headOf(host): priority of what goes next, nil when nothing waits

-- Most hosts have one line: their field `prios` spares them the look.
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

local function headOf(host)
  local top = host.prios and redis.call('ZREVRANGE', key('prios', host.name), 0, 0)[1] or nil
  if top and tonumber(top) > 0 then
    return top
  end
  return redis.call('EXISTS', key('line', host.name, '0')) == 1 and '0' or top
end

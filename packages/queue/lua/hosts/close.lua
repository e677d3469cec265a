-- A lane that has nothing left to do.
--
-- Input    close(host, lane)
-- Output   nothing

-- What was learned of a host outlives the work for it by a day.
local LEARNT_KEPT_MS = 86400000

local function keptUntil(host)
  local learnt = (host.floor or host.failures) and now + LEARNT_KEPT_MS or 0
  return math.max(learnt, tonumber(host.next or 0), tonumber(host.paused or 0))
end

local function close(host, lane)
  redis.call('ZREM', KEYS[1] .. ':due', unitOf(host, lane))
  set(host, 'g' .. lane, nil)
  set(host, 'o' .. lane, nil)
  set(host, 'asleep', nil)
  set(host, 'up', host.up ~= '1' and whole(host.up - 1) or nil)
  if not host.up then
    set(host, 'urgency', nil)
    if keptUntil(host) > now then
      set(host, 'idle', whole(now))
      redis.call('PEXPIREAT', key('host', host.name), whole(keptUntil(host) + 1))
    else
      redis.call('DEL', key('host', host.name))
      hosts[host.name] = { name = host.name }
    end
  end
end

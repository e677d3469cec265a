-- Some of the hosts that have a line, for a reader that takes no part in the crawl.
--
-- Input    ARGV[2] cursor, "0" at first, [3] how many to look at, about
-- Output   {cursor, "0" when all were seen; [{host, waiting, delayed, in flight, ms until its delay lets it be asked, floor
--          under its delay (ms), failures, ms until its pause is over, why it pauses or ""}, …]}; a host may come twice

local function waitingAt(host)
  local waiting = redis.call('LLEN', key('line', host.name, '0'))
  if host.prios then
    for _, priority in ipairs(redis.call('ZRANGE', key('prios', host.name), 0, -1)) do
      waiting = waiting + redis.call('LLEN', key('line', host.name, priority))
    end
  end
  return waiting
end

local function inFlightAt(host)
  local inFlight = 0
  for lane = 0, LANES_MAX - 1 do
    if host['g' .. lane] then
      inFlight = inFlight + redis.call('HLEN', key('flight', host.name, lane))
    end
  end
  return inFlight
end

local function msUntil(moment)
  return math.max(0, tonumber(moment or 0) - now)
end

local function viewOf(host)
  local delayed, pausedMs = redis.call('ZCARD', key('late', host.name)), msUntil(host.paused)
  return {
    host.name, waitingAt(host), delayed, inFlightAt(host), msUntil(host.next), tonumber(host.floor or 0),
    tonumber(host.failures or 0), pausedMs, pausedMs > 0 and host.why or '',
  }
end

local cursor, count, names, views = arg(), arg(), {}, {}
if cursor == '0' then
  names = redis.call('ZREVRANGEBYSCORE', KEYS[1] .. ':paused', '+inf', whole(now), 'LIMIT', 0, count)
end
local scanned = redis.call('ZSCAN', KEYS[1] .. ':due', cursor, 'COUNT', count)
for i = 1, #scanned[2], 2 do
  names[#names + 1] = string.match(scanned[2][i], '^(.*)~%d+~%d+$')
end
for _, name in ipairs(names) do
  if not hosts[name] and hostOf(name).up then
    views[#views + 1] = viewOf(hostOf(name))
  end
end
return { scanned[1], views }

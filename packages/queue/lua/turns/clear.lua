-- Deletes a page of what waits, is noted, is known of hosts or to BullMQ. When a host may be asked again stays known.
--
-- Input    ARGV[2] how much at once
-- Output   how much was deleted; 0 when nothing is left
local page, gone = number(), 0

for _, unit in ipairs(redis.call('ZRANGE', KEYS[1] .. ':due', 0, page - 1)) do
  local host = hostOf(string.match(unit, '^(.*)~%d+~%d+$'))
  local old = { key('line', host.name, '0'), key('late', host.name), key('prios', host.name) }
  for _, priority in ipairs(redis.call('ZRANGE', key('prios', host.name), 0, -1)) do
    old[#old + 1] = key('line', host.name, priority)
  end
  forget(host)
  for lane = 0, LANES_MAX - 1 do
    old[#old + 1] = key('flight', host.name, lane)
    if host['g' .. lane] then
      close(host, lane)
    end
  end
  host = hostOf(host.name)
  redis.call('UNLINK', unpack(old))
  set(host, 'prios', nil)
  set(host, 'late', nil)
  redis.call('ZREM', KEYS[1] .. ':due', unit)
  gone = gone + 1
end
for _, owner in ipairs(redis.call('ZPOPMIN', KEYS[1] .. ':owners', page)) do
  redis.call('UNLINK', KEYS[8] .. ':' .. owner)
  gone = gone + 1
end
local pops = { wait = 'LPOP', paused = 'LPOP', active = 'LPOP', prioritized = 'ZPOPMIN', delayed = 'ZPOPMIN',
  completed = 'ZPOPMIN', failed = 'ZPOPMIN' }
for state, pop in pairs(pops) do
  local popped = redis.call(pop, KEYS[6] .. state, page) or {}
  for i = 1, #popped, pop == 'ZPOPMIN' and 2 or 1 do
    redis.call('UNLINK', KEYS[6] .. popped[i], KEYS[6] .. popped[i] .. ':lock')
    gone = gone + 1
  end
end
if gone == 0 then
  redis.call('HDEL', KEYS[2], 'waiting', 'delayed', 'leased')
  redis.call('HSET', KEYS[2], 'clearedAt', whole(now))
  redis.call('UNLINK', KEYS[1] .. ':heard', KEYS[1] .. ':paused', KEYS[1] .. ':workers', KEYS[3], KEYS[6] .. 'marker', KEYS[6] .. 'pc', KEYS[6] .. 'stalled', KEYS[6] .. 'events',
    KEYS[6] .. 'doubts', KEYS[6] .. 'doubts:since', KEYS[6] .. 'doubts:queued')
end
return gone

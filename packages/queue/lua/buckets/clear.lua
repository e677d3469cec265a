-- Deletes a part of all that waits, is in flight, or is noted. What is known of slots stays, void.
--
-- Input    ARGV[2] how much at once
-- Output   how much was deleted; 0 when nothing is left
local page, gone = number(), 0

-- Long lines have lists of their own.
local function dropLine(lines, slot, value)
  if string.find(value, '\n@', 1, true) then
    local old = { key('line', slot, '0'), key('prios', slot) }
    for _, priority in ipairs(redis.call('ZRANGE', key('prios', slot), 0, -1)) do
      old[#old + 1] = key('line', slot, priority)
    end
    redis.call('UNLINK', unpack(old))
  end
  redis.call('HDEL', lines, slot)
  gone = gone + 1
end

local function dropLines(bucket)
  local lines = key('lines', bucket)
  local scanned = redis.call('HSCAN', lines, '0', 'COUNT', page)
  for i = 1, #scanned[2], 2 do
    dropLine(lines, scanned[2][i], scanned[2][i + 1])
  end
  return redis.call('EXISTS', lines) == 1
end

local function dropUnit(unit)
  local old = { key('late', unit.name), key('later', unit.name), key('with', unit.name), key('ready', unit.name, '0') }
  for _, priority in ipairs(redis.call('ZRANGE', key('urgent', unit.name), 0, -1)) do
    old[#old + 1] = key('ready', unit.name, priority)
  end
  old[#old + 1] = key('urgent', unit.name)
  for lane = 0, LANES_MAX - 1 do
    old[#old + 1] = key('flight', unit.name, lane)
    if unit['g' .. lane] then
      redis.call('ZREM', KEYS[1] .. ':due', jobOf(unit, lane))
    end
  end
  old[#old + 1] = key('unit', unit.name)
  redis.call('UNLINK', unpack(old))
  -- Of a bucket in which nothing else waits there is no unit that would lead to this line.
  local line = unit.bucket and redis.call('HGET', key('lines', unit.bucket), unit.name)
  if line then
    dropLine(key('lines', unit.bucket), unit.name, line)
  end
  units[unit.name] = nil
end

for _, job in ipairs(redis.call('ZRANGE', KEYS[1] .. ':due', 0, page - 1)) do
  if gone >= page then
    break
  end
  local unit = unitOf(string.match(job, '^(.*)~%d+~%d+$'))
  local hasMore = isBucket(unit.name) and dropLines(unit.name)
  if not hasMore then
    dropUnit(unit)
    redis.call('ZREM', KEYS[1] .. ':due', job)
  end
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
  for _, worker in ipairs(redis.call('HKEYS', KEYS[1] .. ':heard')) do
    redis.call('UNLINK', key('started', worker))
  end
  redis.call('UNLINK', KEYS[1] .. ':heard', KEYS[1] .. ':paused', KEYS[1] .. ':workers', KEYS[3], KEYS[6] .. 'marker', KEYS[6] .. 'pc', KEYS[6] .. 'stalled', KEYS[6] .. 'events',
    KEYS[6] .. 'doubts', KEYS[6] .. 'doubts:since', KEYS[6] .. 'doubts:queued')
end
return gone

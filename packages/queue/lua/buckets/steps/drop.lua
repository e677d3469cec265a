-- Deletes units with their lines, and what BullMQ has of them. What is known of slots stays.
--
-- Input    dropUnits(page), dropJobs(page): how much at once
-- Output   how much was deleted; 0 when nothing is left

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
end

local function dropLines(bucket, page)
  local lines = key('lines', bucket)
  -- What was deleted leaves holes in the hash, and a scan ends after so many holes, without a line.
  local cursor, found = '0', {}
  repeat
    cursor, found = unpack(redis.call('HSCAN', lines, cursor, 'COUNT', page))
  until #found > 0 or cursor == '0'
  for i = 1, #found, 2 do
    dropLine(lines, found[i], found[i + 1])
  end
  return #found / 2, redis.call('EXISTS', lines) == 1
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

local function dropUnits(page)
  local gone = 0
  for _, job in ipairs(redis.call('ZRANGE', KEYS[1] .. ':due', 0, page - 1)) do
    if gone >= page then
      break
    end
    local unit, lines, hasMore = unitOf(string.match(job, '^(.*)~%d+~%d+$')), 0, false
    if isBucket(unit.name) then
      lines, hasMore = dropLines(unit.name, page)
    end
    if not hasMore then
      dropUnit(unit)
      redis.call('ZREM', KEYS[1] .. ':due', job)
    end
    gone = gone + lines + 1
  end
  return gone
end

local POPS = { wait = 'LPOP', paused = 'LPOP', active = 'LPOP', prioritized = 'ZPOPMIN', delayed = 'ZPOPMIN',
  completed = 'ZPOPMIN', failed = 'ZPOPMIN' }
local function dropJobs(page)
  local gone = 0
  for state, pop in pairs(POPS) do
    local popped = redis.call(pop, KEYS[6] .. state, page) or {}
    for i = 1, #popped, pop == 'ZPOPMIN' and 2 or 1 do
      redis.call('UNLINK', KEYS[6] .. popped[i], KEYS[6] .. popped[i] .. ':lock')
      gone = gone + 1
    end
  end
  return gone
end

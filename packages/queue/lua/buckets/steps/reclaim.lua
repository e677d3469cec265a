-- Reclaims what a lost worker had of a unit.
--
-- Input    reclaim(turn, before): before, the lane's holder until now, "<worker>/<n>"
--          turn.quarantineAfter: so many workers lost to a request that ran alone; turn.delay (ms)
--          defer(slot, delay): when a lost worker asked the slot last is not known, so its delay (ms) is counted from now
-- Output   how many were reclaimed: to the head of their lines, or to quarantine. Only those that had started are suspects
local function startedOf(worker, turn, entries)
  local names, started = {}, {}
  for i, entry in ipairs(entries) do
    names[i] = startedName(turn.unit.name, turn.lane, entry.token)
  end
  for i, has in ipairs(redis.call('SMISMEMBER', key('started', worker), unpack(names))) do
    started[entries[i].token] = has == 1
  end
  return started
end

local function defer(slot, delay)
  local record = recordOf(slot)
  local delayMs = math.max(delay, record.floor)
  if delayMs > 0 then
    record.next = math.max(record.next, now + delayMs)
    keep(record)
  end
  return record
end

-- Returns all slots of a bucket: their holder is lost, or does not know of them.
local function returnSlots(turn)
  local unit = turn.unit
  if unit.bucket then
    return
  end
  local with = key('with', unit.name)
  local slots = redis.call('SMEMBERS', with)
  redis.call('DEL', with)
  for _, slot in ipairs(slots) do
    local line, record = lineOf(unit.name, slot), defer(slot, turn.delay)
    if line.state == 'w' and mayGoAt(record) > now then
      wait(line, mayGoAt(record))
    elseif line.state == 'w' then
      stand(line, headOf(line))
    end
  end
end

local function reclaim(turn, before)
  local flight, worker = flightOf(turn), string.match(before, '^(.*)/%d+$') or before
  local entries = inOrder(redis.call('HGETALL', flight))
  if #entries > 0 then
    local noted, started = redis.call('HGET', KEYS[3], worker), startedOf(worker, turn, entries)
    redis.call('DEL', flight)
    moved.leased = moved.leased - #entries
    local tokens = {}
    for i, entry in ipairs(entries) do
      local text, kills = entry.text, 0
      tokens[i] = entry.token
      if not turn.unit.bucket then
        unmix(entry.slot)
      end
      if started[entry.token] then
        text, kills = tried(entry.text, noted, worker)
        defer(entry.slot, turn.delay)
      end
      if kills >= turn.quarantineAfter then
        quarantine(KEYS[4], KEYS[5], text, 'it killed ' .. kills .. ' workers, running alone', whole(now))
      else
        prepend(bucketOf(turn.unit), entry.slot, entry.priority, { text })
      end
    end
    redis.call('SET', KEYS[1] .. ':lost:' .. before, table.concat(tokens, ' '), 'PX', 3600000)
  end
  returnSlots(turn)
  return #entries
end

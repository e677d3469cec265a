-- Takes what goes next.
--
-- Input    take(turn, asked): asked: batch, token of this take: asked again for it, after a lost reply, the same requests are
--          answered; more: slots the turn has and wants more of, {slot, most}; slots: most slots that it wants beside; each: most
--          requests of each of these; bytes: no more when there are so many; ahead: takes even when a slot may be asked only in so
--          many ms; of a hot slot: concurrency, most in flight in all its lanes together, 0 for no bound; delay (ms)
-- Output   {{token, slot, priority, text, how many wait behind, priority of the first of them or "", record}, …}
--          of the record: "" or ms until its delay lets it be asked, floor, failures, ms until its pause is over
local PASSED_MAX = 64

local function saidOf(record)
  if not record.stored then
    return ''
  end
  return { math.max(0, record.next - now), record.floor, record.failures, math.max(0, record.paused - now) }
end

local function takenBefore(turn, asked)
  local taken, flight = {}, flightOf(turn)
  for n = 1, math.huge do
    local value = redis.call('HGET', flight, asked.batch .. '.' .. string.format('%.0f', n))
    if not value then
      break
    end
    local held = readHeld(asked.batch .. '.' .. string.format('%.0f', n), value)
    local line = lineOf(bucketOf(turn.unit), held.slot)
    local head = headOf(line)
    taken[n] = { held.token, held.slot, held.priority, held.text, head and lengthOf(line) or 0, head or '', saidOf(recordOf(held.slot)) }
  end
  return taken
end

-- Notes as taken what was taken off a line; of one that has more the turn is the holder.
local function took(turn, taken, asked, line, entries)
  local head = headOf(line)
  if line.state ~= 'h' then
    if line.state ~= 'w' and head then
      redis.call('SADD', key('with', line.bucket), line.slot)
    elseif line.state == 'w' and not head then
      redis.call('SREM', key('with', line.bucket), line.slot)
    end
    save(line, 'w', '0', head or false)
  end
  local waiting = head and lengthOf(line, head) or 0
  for _, entry in ipairs(entries) do
    taken[#taken + 1] = { asked.batch .. '.' .. (#taken + 1), line.slot, entry[1], entry[2], waiting, head or '', saidOf(recordOf(line.slot)) }
    asked.bytes = asked.bytes - #entry[2]
  end
end

local function takeMore(turn, taken, asked)
  for _, more in ipairs(asked.more) do
    local line = lineOf(turn.unit.name, more.slot)
    -- Its holder knows when it may be asked.
    if line.state == 'w' then
      took(turn, taken, asked, line, takeOff(line, more.most))
    end
  end
end

local function takeReady(turn, taken, asked)
  joinLate(turn.unit)
  joinLater(turn.unit)
  local passed, left = 0, asked.slots
  while left > 0 and passed < PASSED_MAX and asked.bytes > 0 do
    local lines, mayBeMore = nextReady(turn.unit, left)
    if not mayBeMore then
      return
    end
    local slots = {}
    for i, line in ipairs(lines) do
      slots[i] = line.slot
    end
    recordsOf(slots)
    for _, line in ipairs(lines) do
      local goesAt = mayGoAt(recordOf(line.slot))
      if goesAt - asked.ahead > now then
        passed = passed + 1
        wait(line, goesAt)
      elseif asked.bytes <= 0 then
        stand(line, line.priority)
      else
        left = left - 1
        took(turn, taken, asked, line, takeOff(line, asked.each))
      end
    end
    passed = passed + (#lines == 0 and 1 or 0)
  end
end

local function roomIn(turn, asked)
  local up, own = tonumber(turn.unit.up or 1), redis.call('HLEN', flightOf(turn))
  -- Some are in flight in its bucket since before it was hot.
  local all = tonumber(turn.unit.mixed or 0)
  if up == 1 then
    return asked.concurrency - own - all
  end
  for lane = 0, LANES_MAX - 1 do
    if turn.unit['g' .. lane] then
      all = all + redis.call('HLEN', flightOf(turn, lane))
    end
  end
  return math.min(asked.concurrency - all, math.ceil(asked.concurrency / up) - own)
end

-- Of several lanes one goes on when a delay has come, and not ahead of what others have started.
local function isFirst(turn)
  for lane = 0, turn.lane - 1 do
    if turn.unit['o' .. lane] then
      return false
    end
  end
  return true
end

local function takeHot(turn, taken, asked)
  local unit, record, most = turn.unit, recordOf(turn.unit.name), asked.each
  if asked.slots == 0 or record.paused > now then
    return
  end
  if asked.concurrency > 0 then
    most = math.min(most, roomIn(turn, asked))
  end
  if math.max(asked.delay, record.floor) > 0 then
    local isAlone = unit.up == '1'
    local isDue = record.next - now <= (isAlone and asked.ahead or 0)
    most = isDue and (isAlone or isFirst(turn)) and math.min(most, 1) or 0
  end
  if most > 0 then
    local line = lineOf(unit.bucket, unit.name)
    took(turn, taken, asked, line, takeOff(line, most))
  end
end

local function take(turn, asked)
  local taken = takenBefore(turn, asked)
  if #taken > 0 then
    return taken
  end
  if turn.unit.bucket then
    takeHot(turn, taken, asked)
  else
    takeMore(turn, taken, asked)
    takeReady(turn, taken, asked)
  end
  if #taken == 0 then
    return taken
  end
  local fields = {}
  for _, one in ipairs(taken) do
    fields[#fields + 1], fields[#fields + 2] = one[1], one[2] .. '\n' .. one[3] .. '\n' .. one[4]
  end
  redis.call('HSET', flightOf(turn), unpack(fields))
  moved.leased = moved.leased + #taken
  return taken
end

-- Takes what goes next.
--
-- Input    take(turn, asked): asked: batch, of which the token of the n-th request is "<batch>.<n>"; isNew: no take of this batch was
--          done before, else the same requests are answered; more: slots the turn has and wants more of, {slot, most}, most 0
--          for one of which what is ready waits for the turn, as it could not go now; slots: most
--          slots that it wants beside; each: most requests of each of these, of one of which a delay was learned one; bytes: no more when there are so many; ahead: takes
--          even when a slot may be asked only in so many ms; of a hot slot: concurrency, most in flight in all its lanes together,
--          0 for no bound; turn.delay (ms)
--          startsLeft: of all turns together so many leave as soon as the worker has them, or a moment later, if they may go now
--          keepStarts(worker): notes these as started, as the worker would do before they leave
-- Output   {{slot, how many wait behind, priority of the first of them or "", record, priority, text, priority, text, …}, …}
--          of the record: "" or ms until its delay lets it be asked, floor, failures, ms until its pause is over; "" for what the
--          turn has more of, as its holder knows
--          and {{slot, how many wait, priority of the first of them}, …} of slots with most 0 and, of a repeated take, of all named ones: what waits
--          for the turn
local MAX_PASSED_PER_TAKE = 64
-- As in src/buckets/scripts/bucket-scripts.ts.
local STARTED_KEPT_MS = 604800000
local startsLeft, starting = 0, {}

local function saidOf(record)
  if not record.stored then
    return ''
  end
  return { math.max(0, record.next - now), record.floor, record.failures, math.max(0, record.paused - now) }
end

local function takenBefore(turn, batch)
  local taken, flight, last = {}, flightOf(turn), nil
  for n = 1, math.huge do
    local token = batch .. '.' .. string.format('%.0f', n)
    local value = redis.call('HGET', flight, token)
    if not value then
      break
    end
    local held = readHeld(token, value)
    if not last or last[1] ~= held.slot then
      local head, waiting = frontOf(lineOf(bucketOf(turn.unit), held.slot))
      last = { held.slot, waiting, head or '', saidOf(recordOf(held.slot)) }
      taken[#taken + 1] = last
    end
    last[#last + 1], last[#last + 2] = held.priority, held.text
  end
  return taken
end

-- The turn is the holder of a line that has something.
local function hold(line)
  local head, waiting = frontOf(line)
  local isHeld = line.state == 'w'
  if line.state ~= 'h' then
    if not isHeld and head then
      redis.call('SADD', key('with', line.bucket), line.slot)
    elseif isHeld and not head then
      redis.call('SREM', key('with', line.bucket), line.slot)
    end
    save(line, 'w', head or '0', head or false)
  end
  return head, waiting
end

-- Notes as taken what was taken off a line.
local function took(taken, asked, line, entries)
  local isHeld = line.state == 'w'
  local head, waiting = hold(line)
  if #entries == 0 then
    return
  end
  local one = { line.slot, waiting, head or '', isHeld and '' or saidOf(recordOf(line.slot)) }
  for _, entry in ipairs(entries) do
    one[#one + 1], one[#one + 2] = entry[1], entry[2]
    asked.bytes = asked.bytes - #entry[2]
  end
  taken[#taken + 1] = one
end

-- What stands in the list of ready slots beside that is passed over.
local function holdNamed(turn, asked, isRepeated)
  local kept = {}
  for _, more in ipairs(asked.more) do
    local line = (isRepeated or more.most == 0) and lineOf(turn.unit.name, more.slot)
    if line and (line.state == 'w' or (line.state == 'r' and more.most == 0)) then
      local head, waiting = hold(line)
      kept[#kept + 1] = head and { line.slot, waiting, head } or nil
    end
  end
  return kept
end

local function takeMore(turn, taken, asked)
  local slots, most = {}, {}
  for _, more in ipairs(asked.more) do
    if more.most > 0 then
      slots[#slots + 1], most[#most + 1] = more.slot, more.most
    end
  end
  local lines = linesOf(turn.unit.name, slots)
  saveTogether(turn.unit.name, function()
    for i, line in ipairs(lines) do
      if line and line.state == 'w' then
        took(taken, asked, line, takeOff(line, most[i]))
      end
    end
  end)
end

local function nextLines(unit, due, most)
  if #due > 0 then
    return due, true
  end
  return nextReady(unit, most)
end

local function takeReady(turn, taken, asked)
  joinLate(turn.unit)
  local passed, left = 0, asked.bytes > 0 and asked.slots or 0
  local _, due = joinLater(turn.unit, asked.ahead, left)
  while left > 0 and passed < MAX_PASSED_PER_TAKE and asked.bytes > 0 do
    local lines, mayBeMore = nextLines(turn.unit, due, left)
    if not mayBeMore then
      return
    end
    due = {}
    local slots = {}
    for i, line in ipairs(lines) do
      slots[i] = line.slot
    end
    recordsOf(slots)
    saveTogether(turn.unit.name, function()
      for _, line in ipairs(lines) do
        local goesAt = mayGoAt(recordOf(line.slot))
        if goesAt - asked.ahead > now then
          passed = passed + 1
          wait(line, goesAt)
        elseif asked.bytes <= 0 then
          stand(line, line.head)
        else
          left = left - 1
          -- Of one with a learned delay, which its worker may not know of, the others would only lie there.
          took(taken, asked, line, takeOff(line, recordOf(line.slot).floor > 0 and 1 or asked.each))
        end
      end
    end)
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
  if math.max(turn.delay, record.floor) > 0 then
    local isAlone = unit.up == '1'
    local isDue = record.next - now <= (isAlone and asked.ahead or 0)
    most = isDue and (isAlone or isFirst(turn)) and math.min(most, 1) or 0
  end
  if most > 0 then
    local line = lineOf(unit.bucket, unit.name)
    took(taken, asked, line, takeOff(line, most))
  end
end

-- The first ones that may go now.
local function start(turn, taken, asked)
  local name, n = startedName(turn.unit.name, turn.lane, asked.batch .. '.'), 0
  for _, one in ipairs(taken) do
    local known = one[4]
    local mayGo = known == '' or (known[1] == 0 and known[4] == 0)
    for _ = 5, #one, 2 do
      n = n + 1
      if mayGo and startsLeft > 0 then
        startsLeft, starting[#starting + 1] = startsLeft - 1, name .. n
      end
    end
  end
end

local function keepStarts(worker)
  if #starting > 0 then
    redis.call('SADD', key('started', worker), unpack(starting))
    redis.call('PEXPIRE', key('started', worker), STARTED_KEPT_MS)
  end
end

local function take(turn, asked)
  local taken = asked.isNew and {} or takenBefore(turn, asked.batch)
  local isRepeated = #taken > 0
  if isRepeated then
    start(turn, taken, asked)
    return taken, holdNamed(turn, asked, true)
  end
  local kept = {}
  if turn.unit.bucket then
    takeHot(turn, taken, asked)
  else
    kept = holdNamed(turn, asked, false)
    takeMore(turn, taken, asked)
    takeReady(turn, taken, asked)
  end
  local fields, n = {}, 0
  for _, one in ipairs(taken) do
    for i = 5, #one, 2 do
      n = n + 1
      fields[2 * n - 1], fields[2 * n] = asked.batch .. '.' .. n, one[1] .. '\n' .. one[i] .. '\n' .. one[i + 1]
    end
  end
  if n == 0 then
    return taken, kept
  end
  redis.call('HSET', flightOf(turn), unpack(fields))
  moved.leased = moved.leased + n
  start(turn, taken, asked)
  return taken, kept
end

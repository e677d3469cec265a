-- How some slots stand, for a reader that takes no part in the crawl. Nothing is changed.
--
-- Input    ARGV[2] bucket of which some lines are looked at, "" for none, [3] cursor, "0" at first, [4] how many, about; then
--          slots that are looked at in any case, as bucket, slot, …
-- Output   {cursor, "0" when all were seen; [{slot, waiting, delayed, in flight, ms until its delay lets it be asked, floor under
--          its delay (ms), failures, ms until its pause is over, why it pauses or "", its line's state or "", lanes when it is hot,
--          [workers that have its bucket, or a lane of it when it is hot]}, …]}; a slot may come twice
local MAX_LATE_PER_BUCKET = 1000
local flights, lates = {}, {}

local function countFlight(unit, counts)
  for lane = 0, LANES_MAX - 1 do
    if unit['g' .. lane] then
      for _, value in ipairs(redis.call('HVALS', key('flight', unit.name, lane))) do
        local slot = string.match(value, '^[^\n]*')
        counts[slot] = (counts[slot] or 0) + 1
      end
    end
  end
end

local function flightOf(bucket, slot)
  if not flights[bucket] then
    flights[bucket] = {}
    countFlight(unitOf(bucket), flights[bucket])
  end
  local counts = { [slot] = flights[bucket][slot] }
  countFlight(unitOf(slot), counts)
  return counts[slot] or 0
end

local function delayedOf(bucket, slot)
  if not lates[bucket] then
    lates[bucket] = {}
    for _, member in ipairs(redis.call('ZRANGE', key('late', bucket), 0, MAX_LATE_PER_BUCKET - 1)) do
      local of = string.match(member, '^[^\n]*')
      lates[bucket][of] = (lates[bucket][of] or 0) + 1
    end
  end
  return lates[bucket][slot] or 0
end

local function waitingOf(line)
  if line.text then
    return countOf(line)
  end
  local waiting = redis.call('LLEN', key('line', line.slot, '0'))
  for _, priority in ipairs(redis.call('ZRANGE', key('prios', line.slot), 0, -1)) do
    waiting = waiting + redis.call('LLEN', key('line', line.slot, priority))
  end
  return waiting
end

local function msUntil(moment)
  return math.max(0, moment - now)
end

local function holdersOf(unit)
  local holders = {}
  for lane = 0, LANES_MAX - 1 do
    if unit['o' .. lane] then
      holders[#holders + 1] = string.match(unit['o' .. lane], '^(.*)/%d+$')
    end
  end
  return holders
end

local views = {}
local function look(bucket, slot, value)
  local record, line = recordOf(slot), lineOf(bucket, slot, value)
  local pausedMs, isHot = msUntil(record.paused), line.state == 'h'
  local unit = unitOf(isHot and slot or bucket)
  views[#views + 1] = {
    slot, waitingOf(line), delayedOf(bucket, slot), flightOf(bucket, slot), msUntil(record.next),
    record.floor, record.failures, pausedMs, pausedMs > 0 and record.why or '',
    line.state or '', isHot and tonumber(unit.up or 0) or 0, holdersOf(unit),
  }
end

local bucket, cursor, count = arg(), arg(), arg()
while at < #ARGV do
  local of, slot = arg(), arg()
  look(of, slot)
end
if bucket ~= '' then
  local scanned = redis.call('HSCAN', key('lines', bucket), cursor, 'COUNT', count)
  cursor = scanned[1]
  for i = 1, #scanned[2], 2 do
    look(bucket, scanned[2][i], scanned[2][i + 1])
  end
end
return { cursor, views }

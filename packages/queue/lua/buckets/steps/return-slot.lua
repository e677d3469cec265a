-- The holder of a bucket returns a slot of it, or has slots of it become hot.
--
-- Input    readTold(): of ARGV: slot, ms until it may be asked or "", "1" for news and these
--          tellOf(turn, told): keeps that
--          returnSlot(turn, told, lanes, mixed): lanes: so many as a hot slot, 0 for one that stays in its bucket; mixed: how many of it
--          the holder has in flight then, else none
--          heatReady(turn, most): up to so many of the slots that are ready become hot, with a lane each. Those that wait for their delay,
--          and those with something in flight on the turn, which tells of these itself, are passed over: to the end of their list
-- Output   nothing
local LINE_PER_LANE = 64
local MAX_PASSED_PER_HEAT = 64

local function readTold()
  local told = { slot = arg(), wait = tonumber(arg()) }
  told.news = arg() == '1' and readNews() or nil
  return told
end

local function tellOf(turn, told)
  local record = recordOf(told.slot)
  if told.wait then
    record.next = told.wait > 0 and now + told.wait or 0
  end
  if told.news then
    learn(record, told.news)
  end
  if told.wait or told.news then
    keep(record)
  end
  if not turn.unit.bucket and mayGoAt(record) > now then
    set(turn.unit, 'paced', '1')
  end
  return record
end

local function heat(line, lanes, mixed)
  if line.text then
    spill(line)
  end
  save(line, 'h', '0')
  local unit = unitOf(line.slot)
  set(unit, 'bucket', line.bucket)
  set(unit, 'mixed', mixed > 0 and whole(mixed) or nil)
  local priority, length = frontOf(line)
  set(unit, 'urgency', priority ~= '0' and priority or nil)
  for _ = 1, math.min(lanes, math.ceil(length / LINE_PER_LANE)) do
    open(unit)
  end
end

local function returnSlot(turn, told, lanes, mixed)
  local record = tellOf(turn, told)
  local line = lineOf(turn.unit.name, told.slot)
  -- Of one that becomes hot, and of which nothing was left behind, more may have come since.
  if line.state ~= 'w' and (line.state ~= 'r' or lanes <= 1) then
    return
  end
  redis.call('SREM', key('with', line.bucket), line.slot)
  if mayGoAt(record) > now then
    wait(line, mayGoAt(record))
  elseif lanes > 1 then
    heat(line, lanes, mixed)
  else
    stand(line, headOf(line))
  end
end

local function heatReady(turn, most)
  local unit, passed, stays, inFlight = turn.unit, 0, {}, {}
  for _, held in ipairs(redis.call('HVALS', flightOf(turn))) do
    inFlight[string.match(held, '^([^\n]*)')] = true
  end
  joinLate(unit)
  joinLater(unit, 0)
  while most > 0 and passed < MAX_PASSED_PER_HEAT do
    local lines, mayBeMore = nextReady(unit, most)
    if not mayBeMore then
      break
    end
    for _, line in ipairs(lines) do
      local goesAt = mayGoAt(recordOf(line.slot))
      if goesAt > now or inFlight[line.slot] then
        passed = passed + 1
        stays[#stays + 1] = { line, goesAt }
      else
        most = most - 1
        heat(line, 1, 0)
      end
    end
    passed = passed + (#lines == 0 and 1 or 0)
  end
  for _, stay in ipairs(stays) do
    begins(stay[1], stay[1].head, stay[2])
  end
end

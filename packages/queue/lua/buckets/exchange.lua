-- All that a worker has to say about its turns at a moment, in one step: which requests have ended, with their outcome; what is
-- new of slots, and which go back; what it takes next; which turns it leaves.
--
-- Input    ARGV[2] "grows" when requests are added: then nothing is done at maxmemory, else it is done even there
--          ARGV[3…6] see buckets/steps/command.lua, [7] starts, see buckets/steps/take.lua; [8] turns; of each: unit, lane, generation, holder; bare, tokens of these: requests
--          that are done for good, and of which nothing else is to be said; ended; of each ended: token, id or "" when it has no history,
--          why it was rejected or "", its slot when that has become hot meanwhile or "", groups; of each group: place ("end",
--          "again", "head", "quarantine", "doubt", "failed", "visit", or ms), bucket, slot, priority, requests, these, or ">", shard, entries,
--          these, see outbox/send.lua; told; of each, see
--          buckets/steps/return-slot.lua; returned, the same and lanes, mixed; of a hot slot delay (ms), lanes; "leave", "heat", "take" or "";
--          to heat: most; to take more; of each: slot, most; slots, each, batch, ahead (ms), bytes, concurrency
-- Output   replies: {status, unitStatus, taken, kept, absent when it is empty} of each turn; status: held, left, over, lost, see buckets/steps/leave.lua. Or why
--          nothing is done, see buckets/steps/command.lua
local isGrowing, command, replies, turns, started = arg() == 'grows', readCommand(), {}, {}, {}
if command.refusal then
  return command.refusal
end
if not isGrowing then
  redis.call('HDEL', KEYS[2], '')
end
hear(command)
startsLeft = number()

local function readAsked()
  local asked = { more = {} }
  for m = 1, number() do
    asked.more[m] = { slot = arg(), most = number() }
  end
  asked.slots, asked.each, asked.batch, asked.ahead, asked.bytes, asked.concurrency = number(), number(), arg(), number(), number(), number()
  asked.isNew = command.isNew and tonumber(asked.batch) == command.number
  return asked
end

for t = 1, number() do
  local turn = { unitName = arg(), lane = arg(), generation = arg(), owner = arg() }
  turn.unit = unitOf(turn.unitName)
  turn.isMine = turn.unit['o' .. turn.lane] == turn.owner
  local tokens = readTokens()
  finishAll(turn, tokens)
  for _ = 1, number() do
    local ended = readEnded()
    tokens[#tokens + 1] = ended.token
    finish(turn, ended)
  end
  local turnName = startedName(turn.unit.name, turn.lane, '')
  for _, token in ipairs(tokens) do
    started[#started + 1] = turnName .. token
  end
  for _ = 1, number() do
    local told = readTold()
    if turn.isMine then
      tellOf(turn, told)
    end
  end
  for _ = 1, number() do
    local told, lanes, mixed = readTold(), number(), number()
    if turn.isMine then
      returnSlot(turn, told, lanes, mixed)
    end
  end
  if not isBucket(turn.unit.name) then
    turn.delay, turn.lanes = number(), number()
  end
  local goesOn = arg()
  turn.leaves, turn.heats = goesOn == 'leave', goesOn == 'heat' and number() or 0
  turn.asked = goesOn == 'take' and readAsked() or nil
  turns[t] = turn
end

if #started > 0 then
  redis.call('SREM', key('started', command.worker), unpack(started))
end

-- A hot slot with a long line gets another lane.
local function widen(unit, lanes)
  local up = tonumber(unit.up)
  if unit.bucket and up < lanes and now > tonumber(unit.folded or 0) and recordOf(unit.name).floor == 0
    and select(2, frontOf(lineOf(unit.bucket, unit.name))) > up * LINE_PER_LANE then
    open(unit)
  end
end

for t, turn in ipairs(turns) do
  if not turn.isMine then
    replies[t] = answeredBefore(turn)
  else
    local taken, kept = {}, {}
    if turn.asked then
      taken, kept = take(turn, turn.asked)
    end
    if turn.heats > 0 then
      heatReady(turn, turn.heats)
    end
    local unitStatus = unitStatusOf(turn)
    local mayEnd = (turn.leaves or turn.unit.bucket) and #taken == 0 and redis.call('HLEN', flightOf(turn)) == 0
    local status = mayEnd and leave(turn, unitStatus) or 'held'
    if status == 'held' then
      widen(turn.unit, turn.lanes)
      set(turn.unit, 'rests', unitStatus[1] == '' and '1' or turn.unit.rests)
      set(turn.unit, 'urgency', unitStatus[1] ~= '' and unitStatus[1] ~= '0' and unitStatus[1] or nil)
    end
    replies[t] = { status, unitStatus, taken, #kept > 0 and kept or nil }
  end
end
keepStarts(command.worker)
tally()
-- Where a new run begins at 0, and what was done is not forgotten with the queue.
if done > 0 and command.done then
  redis.call('HINCRBY', KEYS[7], 'done', done)
end

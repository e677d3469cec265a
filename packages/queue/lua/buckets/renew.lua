-- Renews the locks of a worker's turns; BullMQ's own script for that is refused at maxmemory. A lock that ran out while
-- Redis was away is taken again, as long as no worker has noticed.
--
-- Requests in flight on a lane that its holder does not have are requeued. Either Redis has come back with an older
-- state, in which the holder has not ended them yet, or the holder never got the reply that brought them.
--
-- Input    ARGV[2] lock (ms), [3] the worker when Redis has come back older, else "": no slot is the holder's any more, [4] number of
--          this command then, [5] the highest whose answer the worker has, see buckets/steps/command.lua: a Redis that goes back to the same
--          state once more does not know the number, and is found out; then of each turn: job, token of its lock, holder, delay of the settings (ms), the first batch that may be under way to the holder (0: nothing is
--          compared), how many tokens the holder has, these
-- Output   {indexes, from 1, of those that are lost; index, how many were requeued, …; 1 when the number is noted, else 0; woken; raised}
local lockMs, worker, commandNumber, answered, lost, requeued, renewed = arg(), arg(), number(), number(), {}, {}, {}
local resets, heard = worker ~= '', 0
-- At its maxmemory Redis refuses what may need more only as the first write.
redis.call('HDEL', KEYS[2], '')

-- The unit is read only where its lock was lost, or something must be requeued. nil: another worker has the lane.
local function ownUnitOf(turn)
  local unit = unitOf(turn.unitName)
  return unit['o' .. turn.lane] == turn.owner and unit or nil
end

local function readTurn()
  local turn = { job = arg(), token = arg(), owner = arg(), delay = number(), open = number(), holds = {} }
  turn.unitName, turn.lane = string.match(turn.job, '^(.*)~(%d+)~%d+$')
  for _ = 1, number() do
    turn.holds[arg()] = true
  end
  return turn
end

local function lockOf(turn)
  return KEYS[6] .. turn.job .. ':lock'
end

local function isRenewed(turn, holder)
  if holder == turn.token then
    redis.call('PEXPIRE', lockOf(turn), lockMs)
    return true
  elseif holder or not ownUnitOf(turn) or not redis.call('LPOS', KEYS[6] .. 'active', turn.job) then
    return false
  end
  redis.call('SET', lockOf(turn), turn.token, 'PX', lockMs)
  return true
end

local function requeueUnheld(turn)
  local flight, unheld = flightOf(turn), {}
  for _, token in ipairs(redis.call('HKEYS', flight)) do
    if not turn.holds[token] and tonumber(string.match(token, '^%d+')) < turn.open then
      unheld[#unheld + 1], unheld[#unheld + 2] = token, redis.call('HGET', flight, token)
    end
  end
  if #unheld == 0 and not resets then
    return 0
  end
  turn.unit = ownUnitOf(turn)
  if not turn.unit then
    return 0
  end
  for _, entry in ipairs(inOrder(unheld)) do
    redis.call('HDEL', flight, entry.token)
    if not turn.unit.bucket then
      unmix(entry.slot)
    end
    -- The request may have been fetched, and has killed no worker.
    prepend(bucketOf(turn.unit), entry.slot, entry.priority, { (tried(entry.text, '', '')) })
  end
  moved.leased = moved.leased - #unheld / 2
  if resets then
    returnSlots(turn)
  end
  return #unheld / 2
end

local turns, locks = {}, {}
while at < #ARGV do
  turns[#turns + 1] = readTurn()
  locks[#turns] = lockOf(turns[#turns])
end
local holders = #turns > 0 and redis.call('MGET', unpack(locks)) or {}
for n, turn in ipairs(turns) do
  if not isRenewed(turn, holders[n]) then
    lost[#lost + 1] = n
  else
    renewed[#renewed + 1] = turn.job
    local count = turn.open > 0 and requeueUnheld(turn) or 0
    if count > 0 then
      requeued[#requeued + 1], requeued[#requeued + 2] = n, count
    end
  end
end
if #renewed > 0 then
  redis.call('SREM', KEYS[6] .. 'stalled', unpack(renewed))
  local before = resets and heardOf(worker) or 0
  -- One that lacks something else, too, is found out by the next command.
  if resets and before >= answered then
    hear({ worker = worker, number = commandNumber, heard = before })
    heard = 1
  end
end
tally()
return { lost, requeued, heard, woken, raised }

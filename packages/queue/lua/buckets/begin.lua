-- A turn begins, or begins again with another worker after its lock was lost. A worker that was handed the turn and stood still
-- until now may find that another, living one has it. A lock that no worker has missed is taken again.
--
-- Input    ARGV[2…] unit, lane, generation, holder, delay of the settings (ms), quarantineAfter, "1" when this worker has
--          another of its lanes, token of its lock, lock (ms), then slots of the bucket with a delay longer than that of the
--          settings, each with its own (ms): a lost worker may have asked them just before, with nothing in flight or waiting
-- Output   {"gone"} when the turn is over, {"taken"} when another worker has it, or {"begun", see buckets/steps/unit-status.lua,
--          reclaimed, woken, raised}
local turn = { unitName = arg(), lane = arg() }
turn.unit = unitOf(turn.unitName)
local generation, owner = arg(), arg()
turn.delay, turn.quarantineAfter = number(), number()
local unit, isSecond = turn.unit, arg() == '1'
if unit['g' .. turn.lane] ~= generation then
  return { 'gone' }
end
local job, token, lockMs = jobOf(unit, turn.lane), arg(), arg()
local locked = redis.call('GET', KEYS[6] .. job .. ':lock')
if locked ~= token and (locked or not redis.call('LPOS', KEYS[6] .. 'active', job)) then
  return { 'taken' }
end
-- Of two lanes that a worker fetches at the same moment it has neither when it asks.
for lane = 0, LANES_MAX - 1 do
  local other = tostring(lane) ~= turn.lane and unit['o' .. lane]
  isSecond = isSecond or other and string.match(other, '^(.*)/') == string.match(owner, '^(.*)/')
end
local before = unit['o' .. turn.lane]
-- The first write is one that Redis never refuses: at its maxmemory, turns must begin so that something gets done.
redis.call('HDEL', KEYS[2], '')
redis.call('SREM', KEYS[6] .. 'stalled', job)
redis.call('SET', KEYS[6] .. job .. ':lock', token, 'PX', lockMs)
while before and before ~= owner and at < #ARGV do
  defer(arg(), number())
end
local reclaimed = before ~= owner and reclaim(turn, before or owner) or 0
if unit.bucket and unit.up ~= '1' and (isSecond or math.max(turn.delay, recordOf(unit.name).floor) > 0) then
  close(unit, turn.lane)
  set(unit, 'folded', whole(now + 1000))
  tally()
  return { 'gone' }
end
set(unit, 'asleep', nil)
set(unit, 'rests', nil)
set(unit, 'o' .. turn.lane, owner)
local unitStatus = unitStatusOf(turn)
tally()
return { 'begun', unitStatus, reclaimed, woken, raised }

-- A turn begins, or begins again with another worker after its lock was lost. A worker that was handed the turn and stood still
-- until now may find that another, living one has it. A lock that no worker has missed is taken again.
--
-- Input    ARGV[2…] host, lane, generation, holder, delay (ms) without its floor, quarantineAfter, "1" when this worker has
--          another of its lanes, token of its lock, lock (ms)
-- Output   {"gone"} when the turn is over, {"taken"} when another worker has it, or {"begun", see hosts/standing.lua, reclaimed,
--          woken, raised}
local turn = { host = hostOf(arg()), lane = arg() }
local generation, owner = arg(), arg()
turn.delay, turn.quarantineAfter = delayOf(turn.host, number()), number()
local host, isSecond = turn.host, arg() == '1'
if host['g' .. turn.lane] ~= generation then
  return { 'gone' }
end
local unit, token, lockMs = turn.host.name .. '~' .. turn.lane .. '~' .. generation, arg(), arg()
local locked = redis.call('GET', KEYS[6] .. unit .. ':lock')
if locked ~= token and (locked or not redis.call('LPOS', KEYS[6] .. 'active', unit)) then
  return { 'taken' }
end
local before = host['o' .. turn.lane]
-- The first write is one that Redis never refuses: at its maxmemory, turns must begin so that something gets done.
redis.call('HDEL', KEYS[2], '')
redis.call('SREM', KEYS[6] .. 'stalled', unit)
redis.call('SET', KEYS[6] .. unit .. ':lock', token, 'PX', lockMs)
local backs = before ~= owner and takeBack(turn, before or owner) or 0
if (isSecond or turn.delay > 0) and host.up ~= '1' then
  close(host, turn.lane)
  set(host, 'folded', whole(now + 1000))
  tally()
  return { 'gone' }
end
set(host, 'asleep', nil)
set(host, 'o' .. turn.lane, owner)
local standing = standingOf(turn)
tally()
return { 'begun', standing, backs, woken, raised }

-- Renews the locks of a worker's turns; BullMQ's own way of doing it is refused at maxmemory. A lock that ran out while
-- Redis was away is taken again, as long as nobody has noticed.
--
-- Input    ARGV[2] lock (ms); then of each turn: unit, token of its lock, owner
-- Output   the indexes, from 1, of those that are lost
local lockMs, lost, stalled = arg(), {}, KEYS[6] .. 'stalled'

local function isHeld(unit, owner)
  local host, lane = string.match(unit, '^(.*)~(%d+)~%d+$')
  return redis.call('HGET', key('host', host), 'o' .. lane) == owner
    and redis.call('LPOS', KEYS[6] .. 'active', unit)
end

for n = 1, (#ARGV - 2) / 3 do
  local unit, token, owner = arg(), arg(), arg()
  local lock = KEYS[6] .. unit .. ':lock'
  local holder = redis.call('GET', lock)
  if holder == token then
    redis.call('PEXPIRE', lock, lockMs)
    redis.call('SREM', stalled, unit)
  elseif not holder and isHeld(unit, owner) then
    redis.call('SREM', stalled, unit)
    redis.call('SET', lock, token, 'PX', lockMs)
  else
    lost[#lost + 1] = n
  end
end
return lost

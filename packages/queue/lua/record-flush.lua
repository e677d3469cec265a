-- Who empties queue and filter, of those who find that it is owed.
--
-- Input    KEYS[1] record; ARGV[1] worker
--          ARGV[2] for how many ms it takes the task, "done" when it has done it, "owed" when it could not
-- Output   0 nothing is owed, 1 this worker has the task, 2 another has it, 3 as 1, and what was met stays
local flush, keepsMet = unpack(redis.call('HMGET', KEYS[1], 'flush', 'keepsMet'))
if not flush then
  return 0
end
local untilMs, holder = string.match(flush, '^(%d+) (.*)$')
if not tonumber(ARGV[2]) then
  if holder ~= ARGV[1] then
    return 0
  elseif ARGV[2] == 'owed' then
    redis.call('HSET', KEYS[1], 'flush', 'owed')
  elseif redis.call('HEXISTS', KEYS[1], 'state') == 1 then
    redis.call('HDEL', KEYS[1], 'flush', 'keepsMet')
    if keepsMet ~= '1' then
      redis.call('HSET', KEYS[1], 'flushed', '1')
    end
  else
    redis.call('DEL', KEYS[1])
  end
  return 0
end
if holder and holder ~= ARGV[1] and tonumber(untilMs) > now then
  return 2
end
redis.call('HSET', KEYS[1], 'flush', string.format('%.0f', now + ARGV[2]) .. ' ' .. ARGV[1])
return keepsMet == '1' and 3 or 1

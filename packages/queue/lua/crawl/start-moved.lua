-- Elements of start() that bring no request are dealt with, or there are no more. The cursor never goes back.
--
-- Input    KEYS[1] record; ARGV[1] worker, ARGV[2] run, ARGV[3] where the cursor must have come to, ARGV[4] where it goes,
--          ARGV[5] "1" after the last element
-- Output   1; 0 when another worker runs start() now, or when the cursor has not come so far, so that elements before these
--          were lost with an older state of Redis: nothing is changed
local run, owner, cursor = unpack(redis.call('HMGET', KEYS[1], 'run', 'startOwner', 'startCursor'))
if run ~= ARGV[2] or owner ~= ARGV[1] or tonumber(cursor or 0) < tonumber(ARGV[3]) then
  return 0
end
if tonumber(ARGV[4]) > tonumber(cursor or 0) then
  redis.call('HSET', KEYS[1], 'startCursor', ARGV[4])
end
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'startEnded', '1')
end
return 1

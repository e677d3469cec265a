-- Elements of start() are dealt with. The cursor never goes back.
--
-- Input    KEYS[1] record; ARGV[1] worker, ARGV[2] run, ARGV[3] cursor, ARGV[4] "1" after the last element, ARGV[5] the
--          cursor that this worker was told last
-- Output   1; 0 when another worker runs start() now, or when the record is older than what it has told, so that elements
--          before the cursor are lost: nothing is changed
local run, owner, cursor = unpack(redis.call('HMGET', KEYS[1], 'run', 'startOwner', 'startCursor'))
if run ~= ARGV[2] or owner ~= ARGV[1] or tonumber(cursor or 0) < tonumber(ARGV[5]) then
  return 0
end
if tonumber(ARGV[3]) > tonumber(cursor or 0) then
  redis.call('HSET', KEYS[1], 'startCursor', ARGV[3])
end
if ARGV[4] == '1' then
  redis.call('HSET', KEYS[1], 'startEnded', '1')
end
return 1

-- Takes the right to run start(), or keeps it for longer.
--
-- Input    KEYS[1] record; ARGV[1] worker, ARGV[2] run, ARGV[3] for how many ms
-- Output   the cursor; -1 start() has ended, -2 another worker has it, -3 the crawl is another one now, or does not run
local run, state, ended, owner, untilMs, cursor =
  unpack(redis.call('HMGET', KEYS[1], 'run', 'state', 'startEnded', 'startOwner', 'startUntil', 'startCursor'))
if run ~= ARGV[2] or state ~= 'running' then
  return -3
end
if ended == '1' then
  return -1
end
if owner and owner ~= ARGV[1] and tonumber(untilMs or 0) > now then
  return -2
end
redis.call('HSET', KEYS[1], 'startOwner', ARGV[1], 'startUntil', string.format('%.0f', now + ARGV[3]))
return tonumber(cursor or 0)

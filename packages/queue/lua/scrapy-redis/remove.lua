-- Takes requests out of scrapy-redis's queue that are queued elsewhere now, once for each step of the import.
--
-- Input    KEYS[1] the queue, KEYS[2] hash: id of the import, how many steps it has done, and
--          how many entries it passes over, as they stay
--          ARGV[1] type of the queue, list or zset; [2] number of the step; [3] how many stay by now; [4…] entries
-- Output   how many were there; -1 when the step was done before: the command was sent twice
if redis.call('HGET', KEYS[2], 'steps') ~= ARGV[2] then
  return -1
end
local removed = 0
for n = 4, #ARGV do
  if ARGV[1] == 'zset' then
    removed = removed + redis.call('ZREM', KEYS[1], ARGV[n])
  else
    removed = removed + redis.call('LREM', KEYS[1], -1, ARGV[n])
  end
end
redis.call('HINCRBY', KEYS[2], 'steps', 1)
redis.call('HSET', KEYS[2], 'stay', ARGV[3])
return removed

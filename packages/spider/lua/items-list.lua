-- Adds items to the end of a list, as far as it has room.
--
-- Input    KEYS[1] list; ARGV[1] how many it may hold (0: any number), ARGV[2…] items
-- Output   how many were added, the first of them
local most, count = tonumber(ARGV[1]), #ARGV - 1
if most > 0 then
  count = math.min(count, math.max(0, most - redis.call('LLEN', KEYS[1])))
end
if count > 0 then
  redis.call('RPUSH', KEYS[1], unpack(ARGV, 2, count + 1))
end
return count

-- At its maxmemory Redis refuses BullMQ the first write of a fetch. Unless something delayed is due: removing that comes
-- first, and opens the way. So the next job goes there for a moment.
--
-- Input    none
-- Output   1 when there was one
local job = redis.call('ZPOPMIN', KEYS[6] .. 'prioritized')[1]
if not job then
  return 0
end
redis.call('ZADD', KEYS[6] .. 'delayed', 0, job)
return 1

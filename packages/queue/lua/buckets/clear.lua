-- Deletes a part of all that waits, is in flight, or is noted. What is known of slots stays, void.
--
-- Input    dropUnits, dropJobs
--          ARGV[2] how much at once
-- Output   how much was deleted; 0 when nothing is left
local page = number()
local gone = dropUnits(page)
for _, owner in ipairs(redis.call('ZPOPMIN', KEYS[1] .. ':owners', page)) do
  redis.call('UNLINK', KEYS[8] .. ':' .. owner)
  gone = gone + 1
end
gone = gone + dropJobs(page)
if gone == 0 then
  redis.call('HDEL', KEYS[2], 'waiting', 'delayed', 'leased')
  redis.call('HSET', KEYS[2], 'clearedAt', whole(now))
  for _, worker in ipairs(redis.call('HKEYS', KEYS[1] .. ':heard')) do
    redis.call('UNLINK', key('started', worker))
  end
  redis.call('UNLINK', KEYS[1] .. ':heard', KEYS[1] .. ':paused', KEYS[1] .. ':workers', KEYS[3], KEYS[6] .. 'marker', KEYS[6] .. 'pc', KEYS[6] .. 'stalled', KEYS[6] .. 'events',
    KEYS[6] .. 'doubts', KEYS[6] .. 'doubts:since', KEYS[6] .. 'doubts:queued')
end
return gone

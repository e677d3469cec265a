-- Deletes a part of what is left of the jobs of a crawl that has finished: of a worker that was silent when it ended, BullMQ keeps
-- what nobody begins any more. All that is known of slots stays, and so do notes of pushes that may come late, until they expire.
--
-- Input    dropUnits, dropJobs
--          ARGV[2] how much at once
-- Output   how much was deleted; 0 when nothing is left, or when requests are waiting after all
local page = number()
for _, count in ipairs(redis.call('HMGET', KEYS[2], 'waiting', 'delayed', 'leased')) do
  if tonumber(count or 0) > 0 then
    return 0
  end
end
local gone = dropUnits(page) + dropJobs(page)
if gone == 0 then
  local latest = redis.call('ZRANGE', KEYS[1] .. ':owners', -1, -1, 'WITHSCORES')[2]
  redis.call('UNLINK', KEYS[6] .. 'stalled')
  if latest then
    redis.call('PEXPIREAT', KEYS[1] .. ':owners', latest)
  end
end
return gone

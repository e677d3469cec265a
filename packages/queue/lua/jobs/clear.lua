-- Deletes what is in the queue, a part at a time.
--
-- Input    KEYS as in jobs/keys.lua, KEYS[11] BullMQ's list wait, KEYS[12] askers that are not settled
--          ARGV[1] how many at once, ARGV[2] prefix of what is noted for an asker
-- Output   1 when there may be more
local count = tonumber(ARGV[1])
local jobs = redis.call('LRANGE', active, 0, count - 1)
redis.call('LTRIM', active, #jobs, -1)
for _, line in ipairs({ prioritized, delayed }) do
  local popped = redis.call('ZPOPMIN', line, count - #jobs)
  for i = 1, #popped, 2 do
    jobs[#jobs + 1] = popped[i]
  end
end
for _, jobId in ipairs(redis.call('LRANGE', KEYS[11], 0, count - 1)) do
  jobs[#jobs + 1] = jobId
end
redis.call('LTRIM', KEYS[11], count, -1)
for _, jobId in ipairs(jobs) do
  redis.call('DEL', jobKey(jobId), jobKey(jobId) .. ':lock')
end
local owners = redis.call('SPOP', KEYS[12], count)
for _, owner in ipairs(owners) do
  redis.call('DEL', ARGV[2] .. owner)
end
if #jobs + #owners > 0 then
  return 1
end
redis.call('DEL', marker, places, events, alone, histories)
redis.call('UNLINK', KEYS[1] .. 'doubts', KEYS[1] .. 'doubts:since', KEYS[1] .. 'doubts:queued')
return 0

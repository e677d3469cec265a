-- Reclaims what workers had that are gone: leases whose locks have expired. Any worker calls it, at any time.
--
-- It also queues requests that are due by Redis's clock. BullMQ does that by the clock of the worker that takes a job: if the
-- clocks of all workers were an hour late, a request that was delayed for a second would wait for an hour.
--
-- When nobody has looked for a while, Redis was away and locks have expired for that alone: nothing is reclaimed until the
-- living have had the time to come back and renew theirs.
--
-- Input    KEYS as in jobs/keys.lua, KEYS[11] when somebody last looked (ms)
--          ARGV[1] how often to look (ms), ARGV[2] how long nobody must have looked for that (ms), ARGV[3] QUARANTINE_AFTER
--          ARGV[4] how long nothing is reclaimed then (ms)
-- Output   for each that was reclaimed what reclaim() says; 500 at most
local MAX_RECLAIMED_PER_CALL = 500
local MAX_DUE_PER_CALL = 500
local since = now - (redis.call('GET', KEYS[11]) or 0)
if since < tonumber(ARGV[1]) then
  return {}
end
for _, jobId in ipairs(redis.call('ZRANGEBYSCORE', delayed, 0, now * 4096, 'LIMIT', 0, MAX_DUE_PER_CALL)) do
  redis.call('ZREM', delayed, jobId)
  redis.call('HSET', jobKey(jobId), 'delay', 0)
  queue(jobId, tonumber(redis.call('HGET', jobKey(jobId), 'priority') or 0))
end
local reclaimed = {}
if since > tonumber(ARGV[2]) then
  redis.call('SET', KEYS[11], string.format('%.0f', now + ARGV[4] - ARGV[1]))
  return reclaimed
end
redis.call('SET', KEYS[11], nowText)
for _, jobId in ipairs(redis.call('LRANGE', active, 0, -1)) do
  if #reclaimed < MAX_RECLAIMED_PER_CALL and redis.call('EXISTS', jobKey(jobId) .. ':lock') == 0 then
    redis.call('LREM', active, 1, jobId)
    reclaimed[#reclaimed + 1] = reclaim(jobId, tonumber(ARGV[3]))
  end
end
return reclaimed

-- The doubt about some links is over: those that are new become jobs.
--
-- Input    KEYS as in jobs/keys.lua, ARGV[1] "1" for lifo, ARGV[2…] as in leasing/doubts-end.lua; then requests; of each: id, job id,
--          data, priority
-- Output   {ids that were queued}
redis.call('HDEL', alone, '')
local queued = endDoubts(KEYS[1], function(text, why)
  quarantine(quarantined, histories, text, why, nowText)
end, function(isIn)
  for _ = 1, number() do
    local id, jobId, data, priority = arg(), arg(), arg(), number()
    if isIn(id) then
      add(jobId, data, priority, ARGV[1] == '1')
    end
  end
end)
return { queued }

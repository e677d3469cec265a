-- Requests that were given up become jobs, each in the step in which it leaves the ledger.
--
-- Input    KEYS as in jobs/keys.lua, KEYS[11] record; ARGV[1] "1" for lifo; ARGV[2…] id and key as in failures/take.lua, job id, data,
--          priority, …
-- Output   the ids that were queued; -1 when nothing was done, as the crawl has ended
if hasEnded(KEYS[11]) then
  return -1
end
-- Refused by a Redis at its maxmemory, before anything is done.
redis.call('HINCRBY', KEYS[1] .. 'failures:counts', 'retried', 0)
local queued = {}
for i = 2, #ARGV, 5 do
  if takeFailure(KEYS[1], quarantined, ARGV[i], ARGV[i + 1]) then
    add(ARGV[i + 2], ARGV[i + 3], tonumber(ARGV[i + 4]), ARGV[1] == '1')
    queued[#queued + 1] = ARGV[i]
  end
end
redis.call('HINCRBY', KEYS[1] .. 'failures:counts', 'retried', #queued)
return queued

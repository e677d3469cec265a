-- Requests that were given up go to the ends of their slots' lines, each in the step in which it leaves the ledger.
--
-- Input    ARGV[2] groups; of each: bucket, slot, priority, requests; of each request: id and key as in failures/take.lua, a line each; text
-- Output   queued: ids that were queued, see buckets/steps/doubted.lua; -1 when nothing was done, as the crawl has ended
if hasEnded(KEYS[7]) then
  return -1
end
-- Refused by a Redis at its maxmemory, before anything is done.
redis.call('HINCRBY', KEYS[6] .. 'failures:counts', 'retried', 0)
local queued = {}
for _ = 1, number() do
  local bucket, slot, priority, texts = arg(), arg(), arg(), {}
  for _ = 1, number() do
    local id, failure = string.match(arg(), '^([^\n]*)\n([^\n]*)$')
    local text = arg()
    if takeFailure(KEYS[6], KEYS[4], id, failure) then
      texts[#texts + 1], queued[#queued + 1] = text, id
    end
  end
  if #texts > 0 then
    append(bucket, slot, priority, texts)
  end
end
redis.call('HINCRBY', KEYS[6] .. 'failures:counts', 'retried', #queued)
tally()

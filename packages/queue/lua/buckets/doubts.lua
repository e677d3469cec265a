-- The doubt about some links is over: those that are new go to the ends of their slots' lines.
--
-- Input    ARGV[2…] as in leasing/doubts-end.lua; then groups; of each: bucket, slot, priority, requests; of each request: id, text
-- Output   queued: ids that were queued, see buckets/steps/doubted.lua
redis.call('HDEL', KEYS[2], '')
local queued, gone = endDoubts(KEYS[6], function(text, why)
  quarantine(KEYS[4], KEYS[5], text, why, whole(now))
end, function(isIn)
  for _ = 1, number() do
    local bucket, slot, priority, texts = arg(), arg(), arg(), {}
    for _ = 1, number() do
      local id, text = arg(), arg()
      texts[#texts + 1] = isIn(id) and text or nil
    end
    if #texts > 0 then
      append(bucket, slot, priority, texts)
    end
  end
end)
moved.delayed = moved.delayed - gone
tally()

-- Pages that are due go to the ends of their slots' lines, in the step in which they leave the wheel of visits.
--
-- Input    readEntries, takeOffWheel, hasEnded; KEYS[6] with "visits" is their base; ARGV[2] span; entries, as readEntries has them; groups;
--          of each: bucket, slot, priority, requests; of each request: 8 bytes of its page's fingerprint, text
-- Output   {how many were queued, woken, raised}; -1 when nothing was done, as the crawl has ended
if hasEnded(KEYS[7]) then
  return -1
end
local span, isDueNow, queued = arg(), {}, 0
for _, name in ipairs(takeOffWheel(KEYS[6] .. 'visits', span, readEntries())) do
  isDueNow[name] = true
end
for _ = 1, number() do
  local bucket, slot, priority, texts = arg(), arg(), arg(), {}
  for _ = 1, number() do
    local name, text = arg(), arg()
    -- Of a page that stands twice in what was read, one entry counts.
    if isDueNow[name] then
      isDueNow[name] = nil
      texts[#texts + 1] = text
    end
  end
  if #texts > 0 then
    append(bucket, slot, priority, texts)
    queued = queued + #texts
  end
end
tally()
return { queued, woken, raised }

-- Pages that are due go to the ends of their slots' lines, in the step in which they leave the wheel of visits.
--
-- Input    readEntries, takeOffWheel, hasEnded; KEYS[6] with "visits" is their base; ARGV[2] span; entries, as readEntries has them; groups;
--          of each: bucket, slot, priority, requests; of each request: the name that its page has from now on, text
-- Output   {how many were queued, woken, raised}; -1 when nothing was done, as the crawl has ended
if hasEnded(KEYS[7]) then
  return -1
end
local span, entries, groups, isAsked = arg(), readEntries(), {}, {}
for i = 1, number() do
  local group = { bucket = arg(), slot = arg(), priority = arg() }
  for n = 1, number() do
    group[n] = { name = arg(), text = arg() }
    isAsked[group[n].name] = true
  end
  groups[i] = group
end
local isDueNow, queued = {}, 0
for _, name in ipairs(takeOffWheel(KEYS[6] .. 'visits', span, entries, isAsked)) do
  isDueNow[name] = true
end
for _, group in ipairs(groups) do
  local texts = {}
  for _, request in ipairs(group) do
    -- Of a page that stands twice in what was read, one entry counts.
    if isDueNow[request.name] then
      isDueNow[request.name] = nil
      texts[#texts + 1] = request.text
    end
  end
  if #texts > 0 then
    append(group.bucket, group.slot, group.priority, texts)
    queued = queued + #texts
  end
end
tally()
return { queued, woken, raised }

-- The doubt about some links is over: those that are new go to the ends of their hosts' lines.
--
-- Input    ARGV[2…] as in leasing/doubts-end.lua; then groups; of each: host, priority, lanes, requests; of each request: id, text
-- Output   {ids that were queued, woken, raised}
redis.call('HDEL', KEYS[2], '')
local queued, gone = endDoubts(KEYS[6], function(text, why)
  quarantine(KEYS[4], KEYS[5], text, why, whole(now))
end, function(isIn)
  for _ = 1, number() do
    local host, priority, lanes, texts = arg(), arg(), number(), {}
    for _ = 1, number() do
      local id, text = arg(), arg()
      texts[#texts + 1] = isIn(id) and text or nil
    end
    if #texts > 0 then
      append(hostOf(host), priority, lanes, texts)
    end
  end
end)
moved.delayed = moved.delayed - gone
tally()
return { queued, woken, raised }

-- The page is done: it goes, and its children come.
--
-- Input    KEYS as in jobs/keys.lua, ARGV[1…4] as in jobs/lease-end.lua
--          ARGV[5] id of the request when it has a history, else "", ARGV[6] "1" for lifo
--          ARGV[7…] job id, data, priority, …; of one in doubt: id, packed request, "doubt", …; of the page's own
--          failure: "", as keepFailure() takes it, "failed"
-- Output   as endLease(), or "ended <failures that were trimmed>"
local ended = endLease()
if ended ~= 'ended' then
  return ended
end
redis.call('DEL', jobKey(ARGV[1]))
if ARGV[5] ~= '' then
  redis.call('HDEL', histories, ARGV[5])
end
local trimmed = 0
for i = 7, #ARGV, 3 do
  local priority = tonumber(ARGV[i + 2])
  if priority then
    add(ARGV[i], ARGV[i + 1], priority, ARGV[6] == '1')
  elseif ARGV[i + 2] == 'doubt' then
    setAside(KEYS[1], { ARGV[i + 1] })
  else
    trimmed = keepFailure(KEYS[1], ARGV[i + 1], nowText)
  end
end
return trimmed > 0 and ended .. ' ' .. trimmed or ended

-- The page is done: it goes, and its children come.
--
-- Input    KEYS as in jobs/keys.lua, ARGV[1…4] as in jobs/lease-end.lua
--          ARGV[5] id of the request when it has a history, else "", ARGV[6] "1" for lifo
--          ARGV[7…] job id, data, priority, …; of one in doubt: id, packed request, "doubt", …
-- Output   as endLease()
local ended = endLease()
if ended ~= 'ended' then
  return ended
end
redis.call('DEL', jobKey(ARGV[1]))
if ARGV[5] ~= '' then
  redis.call('HDEL', histories, ARGV[5])
end
for i = 7, #ARGV, 3 do
  if ARGV[i + 2] == 'doubt' then
    setAside(KEYS[1], { ARGV[i + 1] })
  else
    add(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[6] == '1')
  end
end
return ended

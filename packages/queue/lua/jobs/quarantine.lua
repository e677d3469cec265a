-- No worker can do the request: it leaves the queue.
--
-- Input    KEYS as in jobs/keys.lua, ARGV[1…4] as in jobs/lease-end.lua, ARGV[5] packed request, ARGV[6] its id, ARGV[7] why
-- Output   as endLease()
local ended = endLease()
if ended == 'ended' then
  redis.call('DEL', jobKey(ARGV[1]))
  note(histories, ARGV[6], nowText, ARGV[3], ARGV[7])
  quarantine(quarantined, histories, ARGV[5], ARGV[7], nowText)
end
return ended

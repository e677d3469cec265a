-- Keeps leases. One whose lock has expired is taken again while nobody has taken the job back: Redis was away.
--
-- Input    KEYS as in job-keys.lua; ARGV[1] worker, ARGV[2] how long a lock lasts (ms), ARGV[3…] job id, token, …
-- Output   the job ids that are lost
local lost = {}
for i = 3, #ARGV, 2 do
  local lock = jobKey(ARGV[i]) .. ':lock'
  local holder = redis.call('GET', lock)
  if holder == ARGV[i + 1] or (not holder and redis.call('HGET', jobKey(ARGV[i]), 'pb') == ARGV[1]) then
    redis.call('SET', lock, ARGV[i + 1], 'PX', ARGV[2])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost

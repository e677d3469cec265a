-- Keeps leases. One whose lock has expired is taken again while no worker has reclaimed the job: Redis was away.
--
-- Input    KEYS as in jobs/keys.lua; ARGV[1] worker, ARGV[2] how long a lock lasts (ms), ARGV[3…] job id, token, …
-- Output   the job ids that are lost
local lost = {}

-- A request that went back keeps the name of its last worker, but is not active.
local function isHeld(jobId)
  return redis.call('HGET', jobKey(jobId), 'pb') == ARGV[1] and redis.call('LPOS', active, jobId)
end

for i = 3, #ARGV, 2 do
  local lock = jobKey(ARGV[i]) .. ':lock'
  local holder = redis.call('GET', lock)
  if holder == ARGV[i + 1] then
    redis.call('PEXPIRE', lock, ARGV[2])
  elseif not holder and isHeld(ARGV[i]) then
    redis.call('SET', lock, ARGV[i + 1], 'PX', ARGV[2])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost

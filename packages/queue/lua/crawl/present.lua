-- How many workers have sent a heartbeat since then.
--
-- Input    KEYS[2] workers; presentBesides(worker, since (ms))
-- Output   their number, without that worker
local function presentBesides(worker, since)
  local count, entries = 0, redis.call('HGETALL', KEYS[2])
  for n = 1, #entries, 2 do
    local at = tonumber(string.match(entries[n + 1], '^{"at":(%d+)')) or 0
    if entries[n] ~= worker and at >= since then
      count = count + 1
    end
  end
  return count
end

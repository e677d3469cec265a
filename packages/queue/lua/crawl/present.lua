-- Which workers have sent a heartbeat since then.
--
-- Input    KEYS[2] workers; presentBesides(worker, since (ms))
-- Output   their number, without that worker; their ids; when the latest of them was sent (ms), 0 without any
local function presentBesides(worker, since)
  local ids, latest, entries = {}, 0, redis.call('HGETALL', KEYS[2])
  for n = 1, #entries, 2 do
    local at = tonumber(string.match(entries[n + 1], '^{"at":(%d+)')) or 0
    if entries[n] ~= worker and at >= since then
      ids[#ids + 1] = entries[n]
      latest = math.max(latest, at)
    end
  end
  return #ids, ids, latest
end

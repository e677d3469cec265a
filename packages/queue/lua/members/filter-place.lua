-- Whether a worker's dupefilter keeps requests where that of a worker that is present does. If so, or if none of them tells, it is
-- noted: others may come before its first heartbeat, which tells it.
--
-- Input    now; KEYS[1] record, KEYS[2] workers; ARGV[1] worker, ARGV[2] the place of its filter, ARGV[3] a worker without a heartbeat for
--          so long (ms) is lost, ARGV[4] id for the first run of another crawl
-- Output   1, or 0 when those that are present have other places
local notedBy, noted = unpack(redis.call('HMGET', KEYS[1], 'filterPlaceBy', 'filterPlace'))
local isElsewhere, entries = false, redis.call('HGETALL', KEYS[2])
for n = 1, #entries, 2 do
  local worker, entry = entries[n], entries[n + 1]
  local at = tonumber(string.match(entry, '^{"at":(%d+)')) or 0
  if worker ~= ARGV[1] and at >= now - ARGV[3] then
    local place = string.match(entry, '"filterPlace":"([^"]+)"') or (worker == notedBy and noted)
    if place == ARGV[2] then
      isElsewhere = false
      break
    end
    isElsewhere = isElsewhere or place ~= false
  end
end
if isElsewhere then
  return 0
end
-- The filter that is left behind, unless it has lost its data, keeps what it was told of this run, and will not hear of its end. What comes after
-- counts as another crawl, so that it knows there what was not finished.
if noted and noted ~= ARGV[2] and redis.call('HEXISTS', KEYS[1], 'filterJoined') == 1 then
  redis.call('HSETNX', KEYS[1], 'filterLeft', ARGV[4])
end
redis.call('HSET', KEYS[1], 'filterPlaceBy', ARGV[1], 'filterPlace', ARGV[2])
return 1

-- The requests that are counted as in flight for a worker, whether or not the worker knows of them. Nothing is changed.
--
-- Input    ARGV[2] worker, [3] cursor, "0" at first, [4] how many turns to look at, about
-- Output   {cursor, "0" when all were seen; host, requests, …}; a host may come twice
local prefix, cursor, count, found = arg() .. '/', arg(), arg(), {}
if tonumber(redis.call('HGET', KEYS[2], 'leased') or 0) <= 0 then
  return { '0', found }
end
local scanned = redis.call('ZSCAN', KEYS[1] .. ':due', cursor, 'COUNT', count)
for i = 1, #scanned[2], 2 do
  local host, lane = string.match(scanned[2][i], '^(.*)~(%d+)~%d+$')
  local owner = redis.call('HGET', key('host', host), 'o' .. lane)
  local requests = owner and string.sub(owner, 1, #prefix) == prefix and redis.call('HLEN', key('flight', host, lane)) or 0
  if requests > 0 then
    found[#found + 1], found[#found + 2] = host, requests
  end
end
return { scanned[1], found }

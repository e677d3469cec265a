-- The requests that are counted as in flight for a worker, whether or not the worker knows of them. Nothing is changed.
--
-- Input    ARGV[2] worker, [3] cursor, "0" at first, [4] how many turns to look at, about
-- Output   {cursor, "0" when all were seen; slot, requests, …}; a slot may come twice
local prefix, cursor, count, found = arg() .. '/', arg(), arg(), {}
if tonumber(redis.call('HGET', KEYS[2], 'leased') or 0) <= 0 then
  return { '0', found }
end
local scanned = redis.call('ZSCAN', KEYS[1] .. ':due', cursor, 'COUNT', count)
for i = 1, #scanned[2], 2 do
  local name, lane = string.match(scanned[2][i], '^(.*)~(%d+)~%d+$')
  local owner, counts = redis.call('HGET', key('unit', name), 'o' .. lane), {}
  if owner and string.sub(owner, 1, #prefix) == prefix then
    for _, value in ipairs(redis.call('HVALS', key('flight', name, lane))) do
      local slot = string.match(value, '^[^\n]*')
      counts[slot] = (counts[slot] or 0) + 1
    end
  end
  for slot, requests in pairs(counts) do
    found[#found + 1], found[#found + 2] = slot, requests
  end
end
return { scanned[1], found }

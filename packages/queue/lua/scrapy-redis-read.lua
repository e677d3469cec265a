-- Some requests of scrapy-redis's queue, in the order in which they were queued (a list) or are to go (a sorted set).
--
-- Input    KEYS[1] the queue; ARGV[1] its type, list or zset; [2] how many to pass over, [3] how many, [4] how many bytes in all
--          [5] how many bytes of one
-- Output   {entry, its length, …}; "" for an entry that is longer
local from, count, left, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local found, reply = nil, {}
if ARGV[1] == 'zset' then
  found = redis.call('ZRANGE', KEYS[1], from, from + count - 1)
else
  -- LPUSH has put the oldest to the right.
  local oldestLast = redis.call('LRANGE', KEYS[1], -from - count, -from - 1)
  found = {}
  for n = #oldestLast, 1, -1 do
    found[#found + 1] = oldestLast[n]
  end
end
for _, entry in ipairs(found) do
  left = left - math.min(#entry, most)
  if #reply > 0 and left < 0 then
    break
  end
  reply[#reply + 1] = #entry > most and '' or entry
  reply[#reply + 1] = #entry
end
return reply

-- Some requests of scrapy-redis's queue, in the order in which they were queued (a list) or are to go (a sorted set). They are
-- read one by one: together they may be more than there is memory for.
--
-- Input    KEYS[1] the queue; ARGV[1] its type, list or zset; [2] how many to pass over, [3] how many, [4] how many bytes in all
--          [5] how many bytes of one
-- Output   {entry, its length, …}; "" for an entry that is longer
local from, count, left, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

local function entryAt(n)
  if ARGV[1] == 'zset' then
    return redis.call('ZRANGE', KEYS[1], n, n)[1]
  end
  -- LPUSH has put the oldest to the right.
  return redis.call('LINDEX', KEYS[1], -n - 1)
end

local reply = {}
for n = from, from + count - 1 do
  local entry = entryAt(n)
  if not entry then
    break
  end
  left = left - math.min(#entry, most)
  if #reply > 0 and left < 0 then
    break
  end
  reply[#reply + 1] = #entry > most and '' or entry
  reply[#reply + 1] = #entry
end
return reply

-- What a counting Bloom filter remembers: a counter of four bits at each place.
--
-- Input    KEYS[5] record: hash with layers, inserted:0, set:0 (counters that are not 0), lost
--          ARGV[header.count + 2]: for each member the number of its block, KEYS[5 + number], and its places, each once (JSON)
--          header.capacity, where a full one takes no more; header.once when a request is forgotten
-- Output   probe() as in redis/set-store.lua; refuses by WEBLOOM_LAYERS when the filter was cleared, or is full
--          at, countersOf(i), inserted, set, lost
local counts = { 'inserted:0', 'set:0', 'lost' }
local inserted, set, lost = unpack(redis.call('HMGET', KEYS[5], unpack(counts)))
inserted, set, lost = tonumber(inserted or 0), tonumber(set or 0), tonumber(lost or 0)
local at = header.count > 0 and cjson.decode(ARGV[header.count + 2])

local function countersOf(i)
  local call = { 'BITFIELD_RO', KEYS[5 + at[i][1]] }
  for n = 2, #at[i] do
    call[3 * n - 3], call[3 * n - 2], call[3 * n - 1] = 'GET', 'u4', at[i][n]
  end
  return redis.call(unpack(call))
end

local function probe()
  if redis.call('HEXISTS', KEYS[5], 'layers') == 0 then
    return nil, 'WEBLOOM_LAYERS there are none by now'
  elseif header.capacity and not header.once and inserted >= header.capacity then
    return nil, 'WEBLOOM_LAYERS it is full'
  end
  local seen = {}
  for i = 1, #at do
    seen[i] = true
    for _, counter in ipairs(countersOf(i)) do
      seen[i] = seen[i] and counter > 0
    end
  end
  return seen
end

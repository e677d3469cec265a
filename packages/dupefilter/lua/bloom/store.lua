-- What a Bloom filter remembers. KEYS[5] record: hash with layers, inserted:<layer>, set:<layer>, lost.
--
-- Input    header.groups[g] {k, who?, top}: the members whose bits are in one string, KEYS[5 + g]. k hashes; `who` their
--          indexes (absent: all, in order); `top` when the string is of the newest layer. ARGV[header.count + 1 + g]:
--          their offsets, as JSON: Lua's own patterns take three times as long to tell them apart
--          header.layers, as the asker knows them; header.capacity of the newest, where a full one takes no more
-- Output   probe() as in redis/set-store.lua; refuses by WEBLOOM_LAYERS: there are others by now, or a further one is needed
--          inserted, set, lost, counts
local top = header.layers - 1
local counts = { 'layers', 'inserted:' .. top, 'set:' .. top, 'lost' }
local known, inserted, set, lost = unpack(redis.call('HMGET', KEYS[5], unpack(counts)))
inserted, set, lost = tonumber(inserted or 0), tonumber(set or 0), tonumber(lost or 0)

-- One GETBIT after the other is no slower than one BITFIELD from Lua, and ends at the first bit that is not set.
local function hasAll(key, offsets, from, to)
  for i = from, to do
    if redis.call('GETBIT', key, offsets[i]) == 0 then
      return false
    end
  end
  return true
end

local function probe()
  if tonumber(known or 0) ~= header.layers then
    return nil, 'WEBLOOM_LAYERS there are ' .. (known or 'none') .. ' by now'
  elseif header.capacity and inserted >= header.capacity then
    return nil, 'WEBLOOM_LAYERS the newest is full'
  end
  local seen = {}
  for g, group in ipairs(header.groups) do
    group.offsets = cjson.decode(ARGV[header.count + 1 + g])
    for entry = 1, #group.offsets / group.k do
      local i = group.who and group.who[entry] or entry
      seen[i] = seen[i] or hasAll(KEYS[5 + g], group.offsets, (entry - 1) * group.k + 1, entry * group.k)
    end
  end
  return seen
end

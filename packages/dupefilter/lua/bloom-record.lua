-- Sets bits, and counts. Whoever is inserted into a filter of error e was lost with a likelihood of e.
--
-- Input    see bloom-store.lua; header.bits and header.hashes of the newest layer, header.oldError of those before it
-- Output   record(fresh) as in set-store.lua
--
-- All bits of a string with one BITFIELD: half the time of a SETBIT for each. The asker sees to it that there are no more
-- values than unpack() can take (near 8 000).
local function setBits(group, key, isFresh)
  local offsets, k, call, n = group.offsets, group.k, { 'BITFIELD', key }, 2
  for entry = 1, #offsets / k do
    if isFresh[group.who and group.who[entry] or entry] then
      for i = (entry - 1) * k + 1, entry * k do
        call[n + 1], call[n + 2], call[n + 3], call[n + 4] = 'SET', 'u1', offsets[i], '1'
        n = n + 4
      end
    end
  end
  for _, bit in ipairs(n > 2 and redis.call(unpack(call)) or {}) do
    set = set + 1 - bit
  end
end

local function record(fresh)
  local isFresh, errorNow = {}, math.pow(math.min(set / header.bits, 1), header.hashes)
  for _, i in ipairs(fresh) do
    isFresh[i] = true
  end
  for g, group in ipairs(header.groups) do
    if group.top then
      setBits(group, KEYS[5 + g], isFresh)
    end
  end
  inserted, lost = inserted + #fresh, lost + #fresh * (1 - (1 - header.oldError) * (1 - errorNow))
  redis.call('HSET', KEYS[5], counts[2], inserted, counts[3], set, counts[4], lost)
end

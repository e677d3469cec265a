-- Counts up. A counter that is at 15 stays there.
--
-- Input    see counting/store.lua; header.bits and header.hashes of the filter
-- Output   record(fresh) and extra() as in bloom/record.lua; change(i, by, places), keepCounts()
local function change(i, by, places)
  local call = { 'BITFIELD', KEYS[5 + at[i][1]], 'OVERFLOW', 'SAT' }
  for _, place in ipairs(places) do
    local n = #call
    call[n + 1], call[n + 2], call[n + 3], call[n + 4] = 'INCRBY', 'u4', place, by
  end
  return redis.call(unpack(call))
end

local function keepCounts()
  redis.call('HSET', KEYS[5], counts[1], inserted, counts[2], set, counts[3], lost)
end

local function record(fresh)
  local errorNow = math.pow(math.min(set / header.bits, 1), header.hashes)
  for _, i in ipairs(fresh) do
    for _, counter in ipairs(change(i, '1', { unpack(at[i], 2) })) do
      set = set + (counter == 1 and 1 or 0)
    end
  end
  inserted, lost = inserted + #fresh, lost + #fresh * (1 / math.max(1 - errorNow, 1e-6) - 1)
  keepCounts()
end

local function extra()
  return { tostring(inserted), tostring(set), tostring(lost) }
end

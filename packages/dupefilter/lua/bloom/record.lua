-- Sets bits, and counts. Of the requests that come to a filter of error e, e are lost, and 1 - e are recorded.
--
-- Input    see bloom/store.lua; header.bits and header.hashes of the newest layer, header.oldError of those before it;
--          header.excess: so many times the error of theory is that of the newest (a Python fork's)
-- Output   record(fresh) as in redis/set-store.lua; extra() → {inserted, set, lost} of the newest layer, told with each answer
local function record(fresh)
  local isFresh, errorNow = {}, math.pow(math.min(set / header.bits, 1), header.hashes)
  errorNow = math.min(1, errorNow * (header.excess or 1))
  for _, i in ipairs(fresh) do
    isFresh[i] = true
  end
  for g, group in ipairs(header.groups) do
    if group.top then
      setBits(group, KEYS[5 + g], isFresh)
    end
  end
  local passed = (1 - header.oldError) * (1 - errorNow)
  inserted, lost = inserted + #fresh, lost + #fresh * (1 / math.max(passed, 1e-6) - 1)
  redis.call('HSET', KEYS[5], counts[2], inserted, counts[3], set, counts[4], lost)
end

local function extra()
  return { tostring(inserted), tostring(set), tostring(lost) }
end

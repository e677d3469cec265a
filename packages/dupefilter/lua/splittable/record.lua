-- Input    see splittable/put.lua; `inserted` and `lost` of bloom/store.lua are those of all leaves
-- Output   record(fresh, members) as in redis/set-store.lua; extra() → the leaves to be split, and those that are full for good
local function record(fresh, members)
  local isFresh = {}
  for _, i in ipairs(fresh) do
    isFresh[i] = true
  end
  lost, inserted = lost + putIn(isFresh, members), inserted + #fresh
  redis.call('HSET', KEYS[5], counts[2], inserted, counts[4], lost)
end

local function extra()
  return ripe
end

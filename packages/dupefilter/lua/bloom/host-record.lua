-- Sets bits in the filters of the hosts.
--
-- Input    see bloom/store.lua: a group is a host's, with group.host
-- Output   record(fresh) as in redis/set-store.lua; extra() → hosts whose filter has just become full
local function record(fresh)
  local isFresh = {}
  for _, i in ipairs(fresh) do
    isFresh[i] = true
  end
  for g, group in ipairs(header.groups) do
    local count = 0
    for _, i in ipairs(group.who) do
      count = count + (isFresh[i] and 1 or 0)
    end
    if count > 0 then
      local before = set
      setBits(group, KEYS[5 + g], isFresh)
      countForHost(group.host, count, set - before)
    end
  end
  redis.call('HSET', KEYS[5], counts[2], inserted, counts[3], set, counts[4], lost)
  redis.call('HINCRBY', KEYS[5], 'full', #filled)
end

local function extra()
  return filled
end

-- Input    see redis/key-store.lua
-- Output   record(fresh, members), erase(member) as in redis/set-store.lua
local function record(fresh, members)
  local lifetimes = header.lifetimes or {}
  for _, i in ipairs(fresh) do
    redis.call('SET', keyOf(members[i]), '', 'PX', lifetimes[tostring(i)] or header.ttlMs)
  end
  redis.call('HINCRBY', KEYS[5], 'recorded', #fresh)
end

local function erase(member)
  if era then
    redis.call('DEL', keyOf(member))
  end
end

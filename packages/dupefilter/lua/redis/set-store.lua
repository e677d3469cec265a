-- What a Redis set remembers.
--
-- Input    KEYS[1] set of members
-- Output   probe(members) → table with true at the index of each that is there; or nil and the text of an error reply, when
--          the store must be made ready first: see core's ScriptRefusal
--          record(fresh, members) puts members[i] in for each i of fresh
--          erase(member) takes it out
local function probe(members)
  local seen = {}
  for i, there in ipairs(redis.call('SMISMEMBER', KEYS[1], unpack(members))) do
    seen[i] = there == 1
  end
  return seen
end

local function record(fresh, members)
  local added = {}
  for n, i in ipairs(fresh) do
    added[n] = members[i]
  end
  redis.call('SADD', KEYS[1], unpack(added))
end

local function erase(member)
  redis.call('SREM', KEYS[1], member)
end

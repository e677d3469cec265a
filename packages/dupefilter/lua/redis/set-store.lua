-- What a Redis set remembers.
--
-- Input    KEYS[1] set of members
-- Output   probe(members) → table with true at the index of each that is there
--          record(fresh, members) puts members[i] in for each i of fresh
--          unmark(member) takes it out again, and nobody holds it; erase(member) takes it out
--          extra() → nothing to tell beside the answers
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

local function unmark(member)
  erase(member)
  redis.call('HDEL', KEYS[2], member)
end

local function extra()
  return {}
end

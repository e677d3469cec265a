-- Members that are remembered for a while: a key for each, which Redis deletes when its lifetime is over.
--
-- Input    header.prefix, header.ttlMs; header.lifetimes {index: ms} of members with one of their own
--          KEYS[5] record: era, a part of the keys' names, another one after `clear`; recorded: how many ever were
-- Output   probe as in redis/set-store.lua; keyOf(member)
local era = redis.call('HGET', KEYS[5], 'era')

local function keyOf(member)
  return header.prefix .. ':' .. era .. ':' .. member
end

-- The last asker of an expired member loses its note: otherwise cleaning up after it would take the next asker's.
local function letGo(members)
  for n, held in ipairs(#members > 0 and redis.call('HMGET', KEYS[2], unpack(members)) or {}) do
    if held then
      redis.call('LREM', membersOf(string.match(held, '^%d+:(.*)\n')), 1, members[n])
      redis.call('HDEL', KEYS[2], members[n])
    end
  end
end

local function probe(members)
  if not era then
    era = string.format('%x', time[1] * 1000000 + time[2])
    redis.call('HSET', KEYS[5], 'era', era)
  end
  local seen, names, expired = {}, {}, {}
  for i, member in ipairs(members) do
    names[i] = keyOf(member)
  end
  for i, there in ipairs(redis.call('MGET', unpack(names))) do
    seen[i] = there ~= false
    expired[#expired + 1] = not there and members[i] or nil
  end
  letGo(expired)
  return seen
end

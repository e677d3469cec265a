-- Members that can be taken out alone: for a store that keeps each member for itself.
--
-- Input    see the store before it: erase(member)
-- Output   unmark(member) takes it out again, and no asker holds it
--          extra() → nothing beside the answers
local function unmark(member)
  erase(member)
  redis.call('HDEL', KEYS[2], member)
end

local function extra()
  return {}
end

-- Removes marks that are no longer needed: settled long enough ago in the present run of the queue's Redis.
--
-- Input    clean(run, before): the present run, and the latest time of settling that may go (ms)
-- Output   1 when there may be more; a call takes at most 100 askers and 500 members
local ASKERS_MAX, MEMBERS_MAX = 100, 500

-- The oldest that may go, and their states.
local function settledBefore(before)
  local due, owners = {}, {}
  for n, entry in ipairs(redis.call('LRANGE', KEYS[4], 0, ASKERS_MAX - 1)) do
    local ms, run, owner = string.match(entry, '^(%d+) (%S+) (.*)$')
    if not ms or tonumber(ms) > before then
      break
    end
    due[n], owners[n] = { state = 's ' .. ms .. ' ' .. run, run = run, owner = owner }, owner
  end
  return due, #owners > 0 and redis.call('HMGET', KEYS[3], unpack(owners)) or {}
end

-- One asker after the other: where a cluster moves the filter, a list that is at its new place already ends the script.
local function clean(run, before)
  local budget, due, states = MEMBERS_MAX, settledBefore(before)
  for n, mark in ipairs(due) do
    -- Marks of an earlier run stay. An asker that asked or was settled again since has a later entry.
    if mark.run == run and states[n] == mark.state then
      local members = redis.call('LPOP', membersOf(mark.owner), budget)
      if members and #members > 0 then
        redis.call('HDEL', KEYS[2], unpack(members))
        budget = budget - #members
      end
      if budget == 0 then
        return 1
      end
      redis.call('HDEL', KEYS[3], mark.owner)
    end
    redis.call('LPOP', KEYS[4])
  end
  return #due == ASKERS_MAX and 1 or 0
end

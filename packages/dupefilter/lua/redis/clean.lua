-- Removes marks that are no longer needed: settled long enough ago in the present run of the queue's Redis.
--
-- Input    clean(run, before): the present run, and the latest time of settling that may go (ms)
--          KEYS[4], the oldest first; KEYS[3], KEYS[2] and the lists of these askers, see redis/owners.lua
-- Output   1 when there may be more; a call takes at most 100 askers and 500 members. An error, after what it has removed, when a list cannot be read
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

-- Where a cluster moves the filter, a list may be at its new place already. That ends the script, but not before all that was taken off other lists
-- is gone.
local function clean(run, before)
  local due, states = settledBefore(before)
  local members, owners, passed, isFull, away = {}, {}, 0, false, nil
  for n, mark in ipairs(due) do
    -- Marks of an earlier run stay. An asker that asked or was settled again since has a later entry.
    if mark.run == run and states[n] == mark.state then
      local list = membersOf(mark.owner)
      local taken = redis.pcall('LPOP', list, MEMBERS_MAX - #members) or {}
      if taken.err then
        away = list
        break
      end
      for _, member in ipairs(taken) do
        members[#members + 1] = member
      end
      isFull = #members == MEMBERS_MAX
      if isFull then
        break
      end
      owners[#owners + 1] = mark.owner
    end
    passed = n
  end
  if #members > 0 then
    redis.call('HDEL', KEYS[2], unpack(members))
  end
  if #owners > 0 then
    redis.call('HDEL', KEYS[3], unpack(owners))
  end
  if passed > 0 then
    redis.call('LPOP', KEYS[4], passed)
  end
  if away then
    -- Again, to end the script with its error.
    redis.call('LPOP', away, 1)
  end
  return (isFull or #due == ASKERS_MAX) and 1 or 0
end

-- Removes marks that are no longer needed: settled long enough ago in the present run of the queue's Redis.
--
-- Input    clean(run, before): the present run, and the latest time of settling that may go (ms)
-- Output   1 when there may be more; a call takes at most 100 askers and 500 members
local function clean(run, before)
  local budget = 500
  for _ = 1, 100 do
    local entry = redis.call('LINDEX', KEYS[4], 0)
    local ms, settledIn, owner = string.match(entry or '', '^(%d+) (%S+) (.*)$')
    if not ms or tonumber(ms) > before then
      return 0
    end
    -- Marks of an earlier run stay. An asker that asked or was settled again since has a later entry.
    if settledIn == run and redis.call('HGET', KEYS[3], owner) == 's ' .. ms .. ' ' .. run then
      local members = redis.call('LPOP', membersOf(owner), budget)
      if members and #members > 0 then
        redis.call('HDEL', KEYS[2], unpack(members))
        budget = budget - #members
      end
      if budget == 0 then
        return 1
      end
      redis.call('HDEL', KEYS[3], owner)
    end
    redis.call('LPOP', KEYS[4])
  end
  return 1
end

-- What an owner asked about is queued for good: from now on only this owner is still told "new" for it.
--
-- Input    settle(owner, attempt, run); attempt "" when the worker that settles does not know which one it was
-- Output   what an earlier attempt of this owner asked about and this one did not is un-marked; caches are then out of date
local function unmarkOthers(owner, attempt)
  local list = membersOf(owner)
  for _, member in ipairs(redis.call('LRANGE', list, 0, -1)) do
    local held = redis.call('HGET', KEYS[2], member) or ''
    if string.sub(held, 14) ~= ':' .. owner .. '\n' .. attempt then
      redis.call('LREM', list, 1, member)
      redis.call('HDEL', KEYS[2], member)
      unmark(member)
      redis.call('HDEL', KEYS[5], 'generation')
    end
  end
end

local function settle(owner, attempt, run)
  local kind, _, tag = stateOf(owner)
  -- Settled in this run already: the command was sent twice.
  if not kind or (kind == 's' and tag == run) then
    return
  end
  if attempt ~= '' and (kind == 's' or tag ~= attempt) then
    unmarkOthers(owner, attempt)
  end
  redis.call('HSET', KEYS[3], owner, 's ' .. nowText .. ' ' .. run)
  redis.call('RPUSH', KEYS[4], nowText .. ' ' .. run .. ' ' .. owner)
end

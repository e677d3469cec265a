-- The end of an asker's attempt: its links are queued for good, or its page goes back and none of them is queued.
--
-- Input    settleAll(settlings): of each: the asker, its attempt, the queue's run, nil when the page goes back
--          attempt "*": whichever asked; settles only. "!": its queue has come back older, and has lost what it had queued
-- Output   settled: from now on no other asker is told "new", and members that an earlier attempt of this asker asked about and
--          this one did not are un-marked. Gone back: members of this attempt are un-marked, unless another worker has settled
--          the asker since, or was told that they are new as well, or the asker is stale. Caches are then out of date. Lost: an asker that was settled in
--          another run than the present one, `run`, is unsettled, as if it had asked just now
local function unmarkWhere(owner, isUnwanted)
  local list, own = membersOf(owner), ':' .. owner .. '\n'
  for _, member in ipairs(redis.call('LRANGE', list, 0, -1)) do
    local held = redis.call('HGET', KEYS[2], member) or ''
    local isHeld = string.sub(held, 14, 13 + #own) == own
    if isUnwanted(isHeld and string.sub(held, 14 + #own) or '', held, member) then
      -- First, as it may need memory that Redis lacks: no member may be seen without a holder.
      unmark(member)
      redis.call('LREM', list, 1, member)
      redis.call('HDEL', KEYS[5], 'generation')
    end
  end
end

local found, changed, endings

local function note(owner, state)
  found[owner], changed[#changed + 1] = state, owner
end

local function noteSettled(owner, run)
  local at = nowText .. ' ' .. run
  note(owner, 's ' .. at)
  endings[#endings + 1] = at .. ' ' .. owner
end

local function giveBack(owner, attempt)
  local kind, ms, tag, _, settledIn = partsOf(found[owner])
  -- One that is stale may be of a worker that stood still after its page was done. Its members are the next asker's, which is counted.
  if kind == 's' or (kind == 'u' and now - tonumber(ms) > header.staleMs) then
    return
  end
  unmarkWhere(owner, function(heldBy, held, member)
    local other = otherThan(attempt, heldBy)
    if other and isAmong(attempt, heldBy) then
      redis.call('HSET', KEYS[2], member, string.match(held, '^[^\n]*\n') .. other)
    end
    return heldBy == attempt
  end)
  if redis.call('EXISTS', membersOf(owner)) == 0 then
    redis.call('HDEL', KEYS[3], owner)
    found[owner] = nil
  elseif tag == attempt and settledIn ~= '' then
    noteSettled(owner, settledIn)
  end
end

local function lose(owner, run)
  local kind, _, settledIn = partsOf(found[owner])
  if kind == 's' and settledIn ~= run then
    note(owner, 'u ' .. nowText .. ' * 0 ' .. settledIn)
  end
end

local function settle(owner, attempt, run)
  if not run then
    return giveBack(owner, attempt)
  elseif attempt == '!' then
    return lose(owner, run)
  end
  local kind, _, tag, bound, settledIn = partsOf(found[owner])
  -- Settled in this run already: the command was sent twice.
  if not kind or (kind == 's' and tag == run) then
    return
  end
  if attempt ~= '*' and (kind == 's' or (tag ~= attempt and tag ~= '+' .. attempt)) then
    unmarkWhere(owner, function(heldBy, held)
      return not isAmong(attempt, heldBy) and not (settledIn == run and isBefore(held, bound))
    end)
  end
  noteSettled(owner, run)
end

-- What was noted of an asker that was given back since is not written.
local function writeSettled()
  local states = {}
  for _, owner in ipairs(changed) do
    if found[owner] then
      states[#states + 1], states[#states + 2] = owner, found[owner]
    end
  end
  if #states > 0 then
    redis.call('HSET', KEYS[3], unpack(states))
  end
  if #endings > 0 then
    redis.call('RPUSH', KEYS[4], unpack(endings))
  end
end

-- A call settles up to some hundred askers: their states are read with one command, and written with one.
local function settleAll(settlings)
  local owners = {}
  for n, settling in ipairs(settlings) do
    owners[n] = settling[1]
  end
  found, changed, endings = {}, {}, {}
  for n, state in ipairs(#owners > 0 and redis.call('HMGET', KEYS[3], unpack(owners)) or {}) do
    found[owners[n]] = state or nil
  end
  for _, settling in ipairs(settlings) do
    settle(unpack(settling))
  end
  writeSettled()
end

-- Notes what the asker was told is new.
--
-- Input    hold(mine, taken): all that this attempt was told is new, and of it what the owner did not have before
-- Output   pending gives `mine` to this attempt; the owner is unsettled from now on
local function hold(mine, taken)
  local fields, value = {}, nowText .. ':' .. header.owner .. '\n' .. header.attempt
  for n, member in ipairs(mine) do
    fields[2 * n - 1], fields[2 * n] = member, value
  end
  redis.call('HSET', KEYS[2], unpack(fields))
  local kind, _, tag = stateOf(header.owner)
  -- A settled owner that learns nothing new stays settled: a late twin of it would otherwise undo the settling.
  if kind == 's' and #taken == 0 then
    return
  end
  if #taken > 0 then
    redis.call('RPUSH', membersOf(header.owner), unpack(taken))
  end
  local attempt = kind and (kind == 's' or tag ~= header.attempt) and '*' or header.attempt
  redis.call('HSET', KEYS[3], header.owner, 'u ' .. nowText .. ' ' .. attempt)
end

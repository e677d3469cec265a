-- Notes what the asker was told is new.
--
-- Input    hold(mine, taken, kind, tag): all that this attempt was told is new; of it what the owner did not have before; the
--          owner's state
-- Output   pending gives `mine` to this attempt; the owner is unsettled from now on
local function hold(mine, taken, kind, tag)
  local fields, value = {}, nowText .. ':' .. header.owner .. '\n' .. header.attempt
  for n, member in ipairs(mine) do
    fields[2 * n - 1], fields[2 * n] = member, value
  end
  redis.call('HSET', KEYS[2], unpack(fields))
  -- A settled owner that learns nothing new stays settled: a late twin of it would otherwise undo the settling.
  if kind == 's' and #taken == 0 then
    return
  end
  if #taken > 0 then
    redis.call('RPUSH', membersOf(header.owner), unpack(taken))
  end
  local attempt = header.attempt
  if header.again or (kind == 'u' and tag ~= attempt and tag ~= '+' .. attempt) then
    attempt = '*'
  elseif kind == 's' or tag == '+' .. attempt then
    attempt = '+' .. attempt
  end
  redis.call('HSET', KEYS[3], header.owner, 'u ' .. nowText .. ' ' .. attempt)
end

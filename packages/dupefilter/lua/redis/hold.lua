-- The members that the asker holds already, and those that it was told are new.
--
-- Input    ownState(); askedAgain(held, own): what the asker holds
--          hold(mine, taken, own): all that this attempt was told is new; of it what the asker did not hold before; the
--          asker's state: kind, tag, bound, run as in redis/owners.lua
-- Output   ownState() → own; askedAgain() → an answer, see redis/ask.lua
--          pending gives `mine` to this attempt; the asker is unsettled from now on
local function ownState()
  local kind, _, tag, bound, run = stateOf(header.owner)
  return { kind = kind, tag = tag, bound = bound, run = kind == 's' and tag or run or '' }
end

local function askedAgain(held, own)
  if header.again then
    return attemptIn(held) == header.attempt and 0 or 4
  end
  return (own.kind == 's' or isBefore(held, own.bound)) and 5 or 0
end

local function hold(mine, taken, own)
  local bound, attempt = own.bound, header.attempt
  if header.again then
    -- The queue has gone back, and with it all that was queued for this asker.
    bound, attempt = '0', '*'
  elseif own.kind == 's' then
    bound = nowText
  elseif own.kind == 'u' and own.tag ~= attempt then
    attempt = own.tag == '+' .. attempt and own.tag or '*'
  end
  -- Later than all that was held when the asker was settled, if only by a fraction.
  local ms = isBefore(nowText, bound) and string.format('%.0f', bound + 1) or nowText
  local fields, value = {}, ms .. ':' .. header.owner .. '\n' .. header.attempt
  for n, member in ipairs(mine) do
    fields[2 * n - 1], fields[2 * n] = member, value
  end
  redis.call('HSET', KEYS[2], unpack(fields))
  if #taken > 0 then
    redis.call('RPUSH', membersOf(header.owner), unpack(taken))
  end
  local before = own.run ~= '' and ' ' .. bound .. ' ' .. own.run or ''
  redis.call('HSET', KEYS[3], header.owner, 'u ' .. nowText .. ' ' .. attempt .. before)
end

-- Who holds what the filter's store has already.
--
-- Input    holdersOf(members, seen): what is asked about, and which of it the store has
-- Output   at, the indexes of those; held, for each false or as pending has it
--          isMine(held), ownerIn(held), isFree(held): anybody may have it
local function holdersOf(members, seen)
  local fields, at = {}, {}
  for i = 1, #members do
    if seen[i] then
      fields[#fields + 1], at[#at + 1] = members[i], i
    end
  end
  return at, #fields > 0 and redis.call('HMGET', KEYS[2], unpack(fields)) or {}
end

local function isMine(held)
  local last = 14 + #header.owner
  return string.sub(held, 15, last) == header.owner and string.find(held, '\n', last + 1, true) == last + 1
end

local function ownerIn(held)
  return string.match(held, '^%d+:(.*)\n') or ''
end

-- What was asked about lately is not looked at any further; that is nearly all.
local freshSince = string.format('%.0f', now - header.staleMs)
local function isFree(held)
  if held > freshSince then
    return false
  end
  local kind, ms = stateOf(ownerIn(held))
  return not kind or (kind == 'u' and now - tonumber(ms) > header.staleMs)
end

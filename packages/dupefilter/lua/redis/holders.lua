-- Which askers hold the members that the filter's store has already.
--
-- Input    holdersOf(members, seen): the members of the question, and which of them the store has
-- Output   at, the indexes of those; held, for each false or its entry in pending
--          isMine(held), ownerIn(held), attemptIn(held); standing(held) of another asker's, after lookUp(holders): "free", the
--          next asker may have it; "unsettled", or it may have been lost; "settled"
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

local function attemptIn(held)
  return string.match(held, '\n(.*)$')
end

-- Links of a page that were met together often belong to one asker: all askers are looked up once, with one command.
local states = {}
local function lookUp(holders)
  local owners = {}
  for _, held in ipairs(holders) do
    local owner = held and held ~= '' and not isMine(held) and ownerIn(held)
    if owner and not states[owner] then
      states[owner], owners[#owners + 1] = {}, owner
    end
  end
  if #owners > 0 then
    for n, state in ipairs(redis.call('HMGET', KEYS[3], unpack(owners))) do
      states[owners[n]] = { partsOf(state) }
    end
  end
end

-- Whether links that the asker settled may have been lost since: the queue of its crawl has come back with another run.
local function mayBeLost(owner, run, ms)
  local present, lostMs, tag = unpack(header.young or {})
  return present and run ~= present and now - tonumber(ms) < lostMs and string.sub(owner, #owner - #tag + 1) == tag
end

local freshSince = string.format('%.0f', now - header.staleMs)
local function standing(held)
  local owner = ownerIn(held)
  local kind, ms, tag, bound, run = unpack(states[owner] or {})
  if kind == 's' then
    return mayBeLost(owner, tag, ms) and 'unsettled' or 'settled'
  elseif isBefore(held, bound) then
    return mayBeLost(owner, run, bound) and 'unsettled' or 'settled'
  end
  local isStale = held <= freshSince and (not kind or now - tonumber(ms) > header.staleMs)
  return isStale and not wasSilent() and 'free' or 'unsettled'
end

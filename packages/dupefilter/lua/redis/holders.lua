-- Which askers hold the members that the filter's store has already.
--
-- Input    holdersOf(members, seen): the members of all questions, and which of them the store has
-- Output   entries[i]: nil for a member that the store has not, false for one that nobody holds, else its entry in pending
--          states[asker], of each holder and of each asker of this call: its state, false for none
--          partsIn(asker): the parts of that, see partsOf
--          isMine(held, own), ownerIn(held), attemptsIn(held), see redis/owners.lua; standing(held) of another asker's: "free", the
--          next asker may have it; "unsettled", or it may have been lost; "settled"
local function isMine(held, own)
  return string.sub(held, 14, 13 + #own.prefix) == own.prefix
end

local function ownerIn(held)
  return string.match(held, '^%d+:(.*)\n') or ''
end

local function attemptsIn(held)
  return string.match(held, '\n(.*)$')
end

-- Links of a page that were met together often belong to one asker: all askers are looked up once, with one command.
local states, parts = {}, {}
local function lookUp(entries)
  local owners = {}
  local function want(owner)
    if states[owner] == nil then
      states[owner], owners[#owners + 1] = false, owner
    end
  end
  for _, question in ipairs(header.ask) do
    want(question.owner)
  end
  for _, held in pairs(entries) do
    if held and held ~= '' then
      want(ownerIn(held))
    end
  end
  for n, state in ipairs(#owners > 0 and redis.call('HMGET', KEYS[3], unpack(owners)) or {}) do
    states[owners[n]] = state
  end
end

-- Parsed when asked for: what hold() writes is seldom read again in the same call.
local function partsIn(owner)
  local state = states[owner]
  if state then
    parts[state] = parts[state] or { partsOf(state) }
    return unpack(parts[state])
  end
end

local function holdersOf(members, seen)
  local fields, at, entries = {}, {}, {}
  for i = 1, #members do
    if seen[i] then
      fields[#fields + 1], at[#at + 1] = members[i], i
    end
  end
  for n, held in ipairs(#fields > 0 and redis.call('HMGET', KEYS[2], unpack(fields)) or {}) do
    entries[at[n]] = held
  end
  lookUp(entries)
  return entries
end

-- Whether links that the asker settled may have been lost since: the queue of its crawl has come back with another run.
local function mayBeLost(owner, run, ms)
  local present, lostMs, tag = unpack(header.young or {})
  return present and run ~= present and now - tonumber(ms) < lostMs and string.sub(owner, #owner - #tag + 1) == tag
end

local freshSince = string.format('%.0f', now - header.staleMs)
local function standing(held)
  local owner = ownerIn(held)
  local kind, ms, tag, bound, run = partsIn(owner)
  if kind == 's' then
    return mayBeLost(owner, tag, ms) and 'unsettled' or 'settled'
  elseif isBefore(held, bound) then
    return mayBeLost(owner, run, bound) and 'unsettled' or 'settled'
  end
  local isStale = held <= freshSince and (not kind or now - tonumber(ms) > header.staleMs)
  return isStale and not wasSilent() and 'free' or 'unsettled'
end

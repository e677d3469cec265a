-- The members that an asker holds already, and those that it is told are new.
--
-- Input    ownState(question) → own: its asker's state, kind, tag, bound, run as in redis/owners.lua
--          askedAgain(held, own): about a member that the asker holds → an answer, see redis/ask.lua
--          take(own, i, held): the asker is told that member i is new; held, its entry in pending so far, if any
--          hold(own, members, entries): its question is answered. Later questions of the call find it in entries and states
-- Output   writeHeld(): pending gives what was taken to the attempts that took it; their askers are unsettled from now on
local notes, unsettled, takers = {}, {}, {}

local function processOf(attempt)
  return string.match(attempt, '^[^.]*')
end

local function ownState(question)
  local kind, _, tag, bound, run = partsIn(question.owner)
  return {
    owner = question.owner, attempt = question.attempt, again = question.again, prefix = ':' .. question.owner .. '\n',
    kind = kind, tag = tag, bound = bound, run = kind == 's' and tag or run or '', mine = {}, taken = {},
  }
end

local function askedAgain(held, own)
  if own.again then
    return isAmong(own.attempt, attemptsIn(held)) and 0 or 4
  end
  return (own.kind == 's' or isBefore(held, own.bound)) and 5 or 0
end

-- `mine` is all that this attempt was told is new, `taken` what the asker did not hold before.
local function take(own, i, held)
  own.mine[#own.mine + 1] = i
  if held and isMine(held, own) then
    return
  elseif held then
    redis.call('LREM', membersOf(ownerIn(held)), 1, ARGV[i + 1])
  end
  own.taken[#own.taken + 1] = ARGV[i + 1]
end

-- This attempt, and one of another process that may still queue the member: two workers may run a page at one moment.
local function attemptsOf(own, held)
  local other
  if held and isMine(held, own) then
    for attempt in string.gmatch(attemptsIn(held), '%S+') do
      other = processOf(attempt) ~= processOf(own.attempt) and attempt or other
    end
  end
  return other and other .. ' ' .. own.attempt or own.attempt
end

local function hold(own, members, entries)
  if #own.mine == 0 then
    return
  end
  local bound, attempt = own.bound, own.attempt
  if own.again then
    -- The queue has gone back, and with it all that was queued for this asker.
    bound, attempt = '0', '*'
  elseif own.kind == 's' then
    bound = nowText
  elseif own.kind == 'u' and own.tag ~= attempt then
    attempt = own.tag == '+' .. attempt and own.tag or '*'
  end
  -- Later than all that was held when the asker was settled, if only by a fraction.
  local ms = isBefore(nowText, bound) and string.format('%.0f', bound + 1) or nowText
  for _, i in ipairs(own.mine) do
    local value = ms .. own.prefix .. attemptsOf(own, entries[i])
    notes[#notes + 1], notes[#notes + 2], entries[i] = members[i], value, value
  end
  local before = own.run ~= '' and ' ' .. bound .. ' ' .. own.run or ''
  local state = 'u ' .. nowText .. ' ' .. attempt .. before
  states[own.owner], takers[#takers + 1] = state, own
  unsettled[#unsettled + 1], unsettled[#unsettled + 2] = own.owner, state
end

local function writeHeld()
  if #takers == 0 then
    return
  end
  redis.call('HSET', KEYS[2], unpack(notes))
  for _, own in ipairs(takers) do
    if #own.taken > 0 then
      redis.call('RPUSH', membersOf(own.owner), unpack(own.taken))
    end
  end
  redis.call('HSET', KEYS[3], unpack(unsettled))
end

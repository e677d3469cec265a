-- Asks about members and records them in one step.
--
-- Input    ARGV[1] {owner: the asker, attempt, staleMs, silenceMs, heard?, count, fingerprinter,
--          settle: [[owner, attempt, run]…],
--          clean?: [run, before], again?: the asker was settled in another run of the queue's Redis, shard?,
--          young?: [run, ms, tag], the run of the queue's Redis began lately; what askers with that tag settled in another
--          run less than so many ms ago may have been lost, crawl?: tag, crawlName?: notes the crawl once more, …store's}
--          ARGV[2…count + 1] members, each once
-- Output   {generation, now (ms), answers, more to clean, holders, run in which the asker was settled before,
--          0 when the crawl should be noted in the record and is not, …store's}
--          holders: a line for each 6, the asker that was told "new", "<ms>:<its first letters>"
--          answers: a digit for each member. 0 new, 1 in doubt: another asker was told "new", and is not settled, or may no
--          longer be, 2 seen for good: no asker will be told "new" again,
--          3 new, though another asker was told so: it has been unsettled for too long,
--          4 new, though this asker has queued it: its page runs again, as its queue has gone back,
--          5 seen: this asker has queued it, 6 seen: another asker has
--          Or an error, WEBLOOM_…, when the store refuses: nothing is recorded then
noteHeard()
for _, settling in ipairs(header.settle) do
  settle(unpack(settling))
end
local more = header.clean and clean(unpack(header.clean)) or 0
local members, answers, fresh, mine, taken = { unpack(ARGV, 2, header.count + 1) }, {}, {}, {}, {}
local others = {}
local seen, refusal = {}, nil
if #members > 0 then
  seen, refusal = probe(members)
end
if refusal then
  return redis.error_reply(refusal)
end
for i, member in ipairs(members) do
  if not seen[i] then
    answers[i], fresh[#fresh + 1], mine[#mine + 1], taken[#taken + 1] = 0, i, member, member
  end
end
local at, holders = holdersOf(members, seen)
local own = ownState()
lookUp(holders)
for n, i in ipairs(at) do
  local held = holders[n]
  if not held then
    answers[i] = 2
  elseif isMine(held) then
    answers[i] = askedAgain(held, own)
    mine[#mine + 1] = answers[i] ~= 5 and members[i] or nil
  else
    local how = standing(held)
    if how == 'free' then
      answers[i], mine[#mine + 1], taken[#taken + 1] = held == '' and 0 or 3, members[i], members[i]
      redis.call('LREM', membersOf(ownerIn(held)), 1, members[i])
    elseif how == 'unsettled' then
      answers[i] = 1
    else
      answers[i], others[#others + 1] = 6, string.sub(string.match(held, '^[^\n]*'), 1, 22)
    end
  end
end
-- Held before it is recorded: a script that fails in between leaves no member that is seen but has no holder.
if #mine > 0 then
  hold(mine, taken, own)
end
if #fresh > 0 then
  record(fresh, members)
end
local told, isKnown = generation(#members > 0)
return { told, nowText, table.concat(answers), more, table.concat(others, '\n'), own.run, isKnown, unpack(extra()) }

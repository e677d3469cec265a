-- Asks about members and records them in one step.
--
-- Input    ARGV[1] {owner, attempt, staleMs, silenceMs, heard?, count, fingerprinter,
--          settle: [[owner, attempt, run]…],
--          clean?: [run, before], again?: the owner was settled in another run of the queue's Redis, shard?,
--          young?: [run, ms, tag], the run of the queue's Redis began lately; what owners with that tag settled in another
--          run less than so many ms ago may have been lost, crawl?: tag, crawlName?: notes the crawl once more, …store's}
--          ARGV[2…count + 1] members, each once
-- Output   {generation, now (ms), answers, more to clean, holders, run in which the owner was settled before,
--          0 when the crawl should be noted in the record and is not, …store's}
--          holders: a line for each 6, who was told "new", "<ms>:<beginning of the owner>"
--          answers: a digit a member. 0 new, 1 in doubt: another owner was told so, and is not settled, or may be no longer,
--          2 seen for good: nobody will be told "new" for it again,
--          3 new, though another owner was told so: it has not said for too long that it queued it,
--          4 new, though this owner has queued it: its page runs again, as its queue has gone back,
--          5 seen: this owner has queued it, 6 seen: another owner has
--          Or an error, WEBLOOM_…, when the store refuses: nothing is recorded then
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
-- Held before it is recorded: a script that fails in between leaves nothing that is seen and that nobody holds.
if #mine > 0 then
  hold(mine, taken, own)
end
if #fresh > 0 then
  record(fresh, members)
end
local told, isKnown = generation(#members > 0)
noteHeard()
return { told, nowText, table.concat(answers), more, table.concat(others, '\n'), own.run, isKnown, unpack(extra()) }

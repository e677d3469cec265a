-- Asks about members and records them in one step: questions of several askers, as if one had asked after the other.
--
-- Input    ARGV[1] {staleMs, silenceMs, heard?, count, fingerprinter,
--          ask: [{owner: the asker, attempt, at?: its members' indexes, each once; absent: all, in order,
--          again?: the asker was settled in another run of the queue's Redis}…],
--          settle: [[owner, attempt, run]…], which come first, elsewhere?: see parts/elsewhere.lua,
--          clean?: [run, before], shard?,
--          young?: [run, ms, tag], the run of the queue's Redis began lately; what askers with that tag settled in another
--          run less than so many ms ago may have been lost, crawl?: tag, crawlName?, notesCrawl?: notes the crawl once more, …store's}
--          ARGV[2…count + 1] members, each once
-- Output   {generation, now (ms), more to clean, 0 when the crawl should be noted in the record and is not,
--          a list with, for each question, {answers, holders, run in which the asker was settled before}, or answers alone
--          where the other two are '', …store's}
--          holders: a line for each 6, the asker that was told "new", "<ms>:<its first letters>"
--          answers: a digit for each member. 0 new, 1 in doubt: another asker was told "new", and is not settled, or may no
--          longer be, 2 seen for good: no asker will be told "new" again,
--          3 new, though another asker was told so: it has been unsettled for too long,
--          4 new, though this asker has queued it: its page runs again, as its queue has gone back,
--          5 seen: this asker has queued it, 6 seen: another asker has
--          Or an error, WEBLOOM_…, when the store refuses: nothing is recorded then
noteHeard()
settleAll(header.settle)
if header.elsewhere then
  settleElsewhere()
end
local more = header.clean and clean(unpack(header.clean)) or 0
local members, fresh = { unpack(ARGV, 2, header.count + 1) }, {}
local seen, refusal = {}, nil
if #members > 0 then
  seen, refusal = probe(members)
end
if refusal then
  return redis.error_reply(refusal)
end
local entries = holdersOf(members, seen)
local replies = {}
for n, question in ipairs(header.ask) do
  replies[n] = ask(question, members, entries, fresh)
end
-- Held before it is recorded: a script that fails in between leaves no member that is seen but has no holder.
writeHeld()
if #fresh > 0 then
  record(fresh, members)
end
local told, isKnown = generation(#members > 0)
return { told, nowText, more, isKnown, replies, unpack(extra()) }

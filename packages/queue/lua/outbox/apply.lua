-- Entries of other shards' outboxes come to lines. Each is applied once, by its number, however often it is sent; what a sender that
-- has gone back writes again, with another number, is known by asker and request for a while.
--
-- Input    KEYS[1] <frontier>:ids:<n>  set  "<asker>\n<request id>" of what was applied in the n-th minute
--          KEYS[7] record; ARGV[2] worker that delivers, [3] its run, or ""; [4] deliveries; of each: sender, epoch, number of the first entry
--          in the sender's list or "" when that is not known, number of the first of these, entries, whose numbers follow one another; of each
--          entry "<bucket>\n<slot>\n<priority>", "<asker>\n<request id>", request
-- Output   {added, how many are lost, woken, raised, nudged}; -2 for another run. Lost: the sender has no longer what was to come before.
--          nudged: unit, priority, …: what the worker is told itself, see slots/wake.lua
local IDS_KEPT_MS, AHEAD_MAX, MAX_MEMBERS_PER_QUESTION = 60000, 10000, 1000
local run, added, lost, groups, byLine, lines, members, texts
caller, run, toCaller = arg(), arg(), {}
if run ~= '' and redis.call('HGET', KEYS[7], 'run') ~= run then
  return -2
end
added, lost, groups, byLine, lines, members, texts = 0, 0, {}, {}, {}, {}, {}
local minute = math.floor(now / IDS_KEPT_MS)
local ids, before = key('ids', whole(minute)), key('ids', whole(minute - 1))

local function take(i)
  local line = lines[i]
  local group = byLine[line]
  if group then
    group[#group + 1] = texts[i]
  else
    group = { texts[i] }
    byLine[line], groups[#groups + 1] = group, line
  end
end

-- One of these may come twice: under two numbers.
local function takeNew(from, to)
  local old = redis.call('SMISMEMBER', before, unpack(members, from, to))
  local known = redis.call('SMISMEMBER', ids, unpack(members, from, to))
  local new, seen = {}, {}
  for i = from, to do
    local member = members[i]
    if old[i - from + 1] == 0 and known[i - from + 1] == 0 and not seen[member] then
      seen[member], new[#new + 1] = true, member
      take(i)
    end
  end
  if #new > 0 then
    added = added + #new
    redis.call('SADD', ids, unpack(new))
  end
end

local function read(isNew)
  local line, member, text = arg(), arg(), arg()
  if isNew then
    local n = #texts + 1
    lines[n], members[n], texts[n] = line, member, text
  end
end

for _ = 1, number() do
  local sender, epoch, listFrom, from, count = arg(), arg(), arg(), number(), number()
  local known = epochOf(appliedOf(sender), epoch)
  if listFrom ~= '' then
    lost = lost + forgive(known, tonumber(listFrom))
  end
  local areNext = follow(known, from, count)
  for n = from, from + count - 1 do
    local isNew = areNext or not isApplied(known, n) and n <= known.upTo + AHEAD_MAX
    if isNew and not areNext then
      noteApplied(known, n)
    end
    read(isNew)
  end
  dropOldest(sender)
end
keepApplied()
for from = 1, #members, MAX_MEMBERS_PER_QUESTION do
  takeNew(from, math.min(#members, from + MAX_MEMBERS_PER_QUESTION - 1))
end
for _, line in ipairs(groups) do
  local bucket, slot, priority = string.match(line, '^([^\n]*)\n([^\n]*)\n([^\n]*)$')
  append(bucket, slot, priority, byLine[line])
end
if added > 0 then
  redis.call('PEXPIRE', ids, 2 * IDS_KEPT_MS)
end
tally()
return { added, lost, woken, raised, toCaller }

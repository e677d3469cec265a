-- Entries of other shards' outboxes come to lines. Each is applied once, by its number, however often it is sent; what a sender that
-- has gone back writes again, with another number, is known by asker and request for a while.
--
-- Input    KEYS[1] <frontier>:ids:<n>  set  "<asker>\n<request id>" of what was applied in the n-th minute
--          KEYS[7] record; ARGV[2] worker that delivers, [3] its run, or ""; [4] deliveries; of each: sender, epoch, number of the first entry
--          in the sender's list or "" when that is not known, entries; of each entry what the list has, see outbox/send.lua
-- Output   {added, how many are lost, woken, raised}; -2 for another run. Lost: the sender has no longer what was to come before
local IDS_KEPT_MS, AHEAD_MAX, MAX_MEMBERS_PER_QUESTION = 60000, 10000, 1000
local run, added, lost, groups, byLine, fresh, members
caller, run = arg(), arg()
if run ~= '' and redis.call('HGET', KEYS[7], 'run') ~= run then
  return -2
end
added, lost, groups, byLine, fresh, members = 0, 0, {}, {}, {}, {}
local minute = math.floor(now / IDS_KEPT_MS)
local ids, before = key('ids', whole(minute)), key('ids', whole(minute - 1))

local function read(entry)
  local asker, bucket, slot, priority, from = string.match(entry, '^%d+\n([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n()')
  local text = string.sub(entry, from)
  fresh[#fresh + 1] = { bucket = bucket, slot = slot, priority = priority, text = text }
  members[#members + 1] = asker .. '\n' .. string.match(text, '^[^\n]*')
end

local function take(one)
  local line = one.slot .. '\n' .. one.priority
  local group = byLine[line]
  if group then
    group.texts[#group.texts + 1] = one.text
  else
    byLine[line] = { bucket = one.bucket, slot = one.slot, priority = one.priority, texts = { one.text } }
    groups[#groups + 1] = byLine[line]
  end
  added = added + 1
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
      take(fresh[i])
    end
  end
  if #new > 0 then
    redis.call('SADD', ids, unpack(new))
  end
end

for _ = 1, number() do
  local sender, epoch, from = arg(), arg(), arg()
  local known = epochOf(appliedOf(sender), epoch)
  if from ~= '' then
    lost = lost + forgive(known, tonumber(from))
  end
  for _ = 1, number() do
    local entry = arg()
    local n = tonumber(string.match(entry, '^%d+'))
    if not isApplied(known, n) and n <= known.upTo + AHEAD_MAX then
      noteApplied(known, n)
      read(entry)
    end
  end
  dropOldest(sender)
end
keepApplied()
for from = 1, #members, MAX_MEMBERS_PER_QUESTION do
  takeNew(from, math.min(#members, from + MAX_MEMBERS_PER_QUESTION - 1))
end
for _, group in ipairs(groups) do
  append(group.bucket, group.slot, group.priority, group.texts)
end
if added > 0 then
  redis.call('PEXPIRE', ids, 2 * IDS_KEPT_MS)
end
tally()
return { added, lost, woken, raised }

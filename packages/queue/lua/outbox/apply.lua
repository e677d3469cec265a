-- Entries of other shards' outboxes come to lines. Each is applied once, by its number, however often it is sent; what a sender that
-- has gone back writes again, with another number, is known by asker and request for a while.
--
-- Input    KEYS[1] <frontier>:ids:<n>  set  "<asker>\n<request id>" of what was applied in the n-th minute
--          KEYS[7] record; ARGV[2] worker that delivers, [3] its run, or ""; [4] deliveries; of each: sender, epoch, number of the first entry
--          in the sender's list or "" when that is not known, entries; of each entry what the list has, see outbox/send.lua
-- Output   {added, how many are lost, woken, raised}; -2 for another run. Lost: the sender has no longer what was to come before
local IDS_KEPT_MS, AHEAD_MAX = 60000, 10000
local run, added, lost, groups, byLine
caller, run = arg(), arg()
if run ~= '' and redis.call('HGET', KEYS[7], 'run') ~= run then
  return -2
end
added, lost, groups, byLine = 0, 0, {}, {}
local minute = math.floor(now / IDS_KEPT_MS)
local ids, before = key('ids', whole(minute)), key('ids', whole(minute - 1))

local function isNew(asker, id)
  local member = asker .. '\n' .. id
  return redis.call('SISMEMBER', before, member) == 0 and redis.call('SADD', ids, member) == 1
end

local function take(entry)
  local asker, bucket, slot, priority, text = string.match(entry, '^%d+\n([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
  if not isNew(asker, string.match(text, '^[^\n]*')) then
    return
  end
  local line = slot .. '\n' .. priority
  if not byLine[line] then
    byLine[line] = { bucket = bucket, slot = slot, priority = priority, texts = {} }
    groups[#groups + 1] = byLine[line]
  end
  table.insert(byLine[line].texts, text)
  added = added + 1
end

for _ = 1, number() do
  local sender, epoch, from = arg(), arg(), arg()
  local all = appliedOf(sender)
  local known = epochOf(all, epoch)
  if from ~= '' then
    lost = lost + forgive(known, tonumber(from))
  end
  for _ = 1, number() do
    local entry = arg()
    local n = tonumber(string.match(entry, '^%d+'))
    if not isApplied(known, n) and n <= known.upTo + AHEAD_MAX then
      noteApplied(known, n)
      take(entry)
    end
  end
  keepApplied(sender, all)
end
for _, group in ipairs(groups) do
  append(group.bucket, group.slot, group.priority, group.texts)
end
if added > 0 then
  redis.call('PEXPIRE', ids, 2 * IDS_KEPT_MS)
end
tally()
return { added, lost, woken, raised }

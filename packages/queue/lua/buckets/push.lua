-- Adds requests to the ends of their slots' lines.
--
-- Input    ARGV[2…5] see buckets/steps/command.lua, [6] asker, [7] "1" when ids are to be noted; for elements of start() [8] where the
--          start cursor must have come to, [9] where it goes, else ""; [10] groups; of each: place ("end" or "doubt"), bucket, slot,
--          priority, requests; of each request: id, or number of the element, and text
-- Output   added, see buckets/steps/pushed.lua; nothing is added for an element before the start cursor, nor for an id noted before. -1
--          for elements that leave out others: those before them were lost with an older state. -2 when the worker's run has
--          finished: whoever stood still meanwhile brings nothing more. Or why nothing is done, see buckets/steps/command.lua
local NOTED_MS = 604800000
if ARGV[5] ~= '' and redis.call('HGET', KEYS[7], 'state') == 'finished' then
  return -2
end
local command = readCommand()
if command.refusal then
  return command.refusal
end
local owner, isNoting, from, to, added = arg(), arg() == '1', tonumber(arg()), tonumber(arg()), 0
local cursor = to and tonumber(redis.call('HGET', KEYS[7], 'startCursor') or 0)
hear(command)
if to and cursor < from then
  return -1
end
local noted, groups, paced = KEYS[8] .. ':' .. owner, {}, {}
for g = 1, number() do
  local group = { place = arg(), bucket = arg(), slot = arg(), priority = arg(), texts = {} }
  for _ = 1, number() do
    local id, text = arg(), arg()
    local isBefore = to and tonumber(id) < cursor or isNoting and redis.call('SADD', noted, id) == 0
    if not isBefore then
      group.texts[#group.texts + 1] = text
    end
  end
  groups[g] = group
  if group.place ~= 'doubt' and #group.texts > 0 and unitOf(group.bucket).paced then
    paced[#paced + 1] = group.slot
  end
end
-- Read with one command; append finds them in `records`.
recordsOf(paced)
for _, group in ipairs(groups) do
  if group.place == 'doubt' then
    moved.delayed = moved.delayed + setAside(KEYS[6], group.texts)
  elseif #group.texts > 0 then
    append(group.bucket, group.slot, group.priority, group.texts)
    added = added + #group.texts
  end
end
if isNoting then
  redis.call('PEXPIRE', noted, NOTED_MS)
  redis.call('ZADD', KEYS[1] .. ':owners', whole(now + NOTED_MS), owner)
  redis.call('PEXPIRE', KEYS[1] .. ':owners', NOTED_MS)
end
if to and to > cursor then
  redis.call('HSET', KEYS[7], 'startCursor', whole(to))
end
tally()

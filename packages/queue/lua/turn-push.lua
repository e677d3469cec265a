-- Adds requests to the ends of their hosts' lines.
--
-- Input    ARGV[2…4] see turn-said.lua, [5] owner, [6] its number as an element of start() or "", [7] "1" when ids are to be
--          noted, [8] "1" for the last part of the batch; [9] groups; of each: host, priority, lanes, requests; of each
--          request: id, text
-- Output   {added, woken, raised}; nothing is added for an element before the start cursor, nor for an id noted before. -1
--          for an element that leaves out others: those before it were lost with an older state. Or the number that Redis
--          knows of, see turn-exchange.lua
local NOTED_MS = 604800000
local said = readSaid()
if said.isOlder then
  return said.heard
end
local owner, index, isNoting, isLast, added = arg(), tonumber(arg()), arg() == '1', arg() == '1', 0
local cursor = index and tonumber(redis.call('HGET', KEYS[7], 'startCursor') or 0)
hear(said)
if index and index > cursor then
  return -1
elseif index and index < cursor then
  return { 0, woken, raised }
end
local noted = KEYS[8] .. ':' .. owner
for _ = 1, number() do
  local host, priority, lanes, texts = arg(), arg(), number(), {}
  for _ = 1, number() do
    local id, text = arg(), arg()
    if not isNoting or redis.call('SADD', noted, id) == 1 then
      texts[#texts + 1] = text
    end
  end
  if #texts > 0 then
    append(hostOf(host), priority, lanes, texts)
    added = added + #texts
  end
end
if isNoting then
  redis.call('PEXPIRE', noted, NOTED_MS)
  redis.call('ZADD', KEYS[1] .. ':owners', whole(now + NOTED_MS), owner)
end
if index and isLast then
  redis.call('HSET', KEYS[7], 'startCursor', whole(index + 1))
end
tally()
return { added, woken, raised }

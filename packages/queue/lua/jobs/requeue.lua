-- The request goes back to the queue: retried, requeued or rejected, or because its host must wait.
--
-- Input    KEYS as in jobs/keys.lua, ARGV[1…4] as in jobs/lease-end.lua
--          ARGV[5] data, "" when it is unchanged, ARGV[6] priority, ARGV[7] "1" for lifo
--          ARGV[8] ms before it may be taken again, "first" for the head of its line
--          ARGV[9] its id and ARGV[10] what happened, for its history; "" when nothing did
-- Output   as endLease()
local ended = endLease()
if ended ~= 'ended' then
  return ended
end
local priority = tonumber(ARGV[6])
redis.call('HDEL', jobKey(ARGV[1]), 'pb')
if ARGV[5] ~= '' then
  redis.call('HSET', jobKey(ARGV[1]), 'data', ARGV[5], 'priority', priority, 'opts', '{"priority":' .. priority .. '}')
end
if ARGV[10] ~= '' then
  note(histories, ARGV[9], nowText, ARGV[3], ARGV[10])
end
if ARGV[8] == 'first' then
  queueFirst(ARGV[1], priority)
elseif tonumber(ARGV[8]) <= 0 then
  queue(ARGV[1], priority, ARGV[7] == '1')
else
  redis.call('HSET', jobKey(ARGV[1]), 'delay', ARGV[8])
  delay(ARGV[1], now + math.ceil(tonumber(ARGV[8])))
end
return ended

-- Notes what somebody orders for a host, and tells the workers that something is asked of them.
--
-- Input    KEYS[1] record, KEYS[2] orders; ARGV[1] host, ARGV[2] the order as JSON without its moment, "" takes it back, ARGV[3] how
--          many hosts may have one, ARGV[4] the order that the new one was made of, "" for none
-- Output   1; 0 when there is no crawl, -1 when too many hosts have orders, 2 when the host has another order by now
if not redis.call('HGET', KEYS[1], 'state') then
  return 0
end
if (redis.call('HGET', KEYS[2], ARGV[1]) or '') ~= ARGV[4] then
  return 2
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
elseif redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) and redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then
  return -1
else
  redis.call('HSET', KEYS[2], ARGV[1], '{"at":' .. nowText .. ',' .. string.sub(ARGV[2], 2))
end
redis.call('HINCRBY', KEYS[1], 'orders', 1)
redis.call('PUBLISH', KEYS[1] .. ':asked', '')
return 1

-- Notes hosts of start requests, unless they have had a public address. There is room for so many of both kinds. When the crawl has finished, or was
-- stopped and emptied, nothing is noted: a worker that stood still meanwhile would leave them to nobody.
--
-- Input    KEYS[1] the set of them, KEYS[2] those that had a public address, KEYS[3] record
--          ARGV[1] how many there may be together, ARGV[2...] hosts and ports
-- Output   which of the hosts was the first without room, from 1; 0 when there was room for all; -1 when nothing is noted
local state, emptied = unpack(redis.call('HMGET', KEYS[3], 'state', 'emptied'))
if state == 'finished' or (state == 'stopped' and emptied) then
  return -1
end
local hosts, public = KEYS[1], KEYS[2]
local room = tonumber(ARGV[1]) - redis.call('SCARD', hosts) - redis.call('SCARD', public)
for n = 2, #ARGV do
  local host = ARGV[n]
  if redis.call('SISMEMBER', public, host) == 0 then
    if room > 0 then
      room = room - redis.call('SADD', hosts, host)
    elseif redis.call('SISMEMBER', hosts, host) == 0 then
      return n - 1
    end
  end
end
return 0

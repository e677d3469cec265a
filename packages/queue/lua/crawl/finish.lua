-- Ends the crawl for all workers when there is nothing left to do, and tells them to look.
--
-- Input    KEYS as in crawl/counts.lua, KEYS[1] record, KEYS[12] alone; ARGV[1] run, ARGV[2] why it only
--          stops, "" for a crawl that finishes
--          In a crawl of several shards nothing is finished while somebody brings requests from outside, see members/adopt.lua, nor when
--          the home has sent anything (a seed) since it was looked at: KEYS[13] <frontier>:sent, ARGV[3] the sum of its last numbers then, "" for one shard
-- Output   1 when the crawl is finished, 2 when it is stopped for that reason, by this call or an earlier one
local function hasSent(before)
  local numbers = 0
  for _, spans in ipairs(redis.call('HVALS', KEYS[13])) do
    numbers = numbers + string.match(spans, '%d+$')
  end
  return numbers ~= tonumber(before)
end

local run, state, startEnded, stopReason, bringsUntil =
  unpack(redis.call('HMGET', KEYS[1], 'run', 'state', 'startEnded', 'stopReason', 'bringsUntil'))
if run ~= ARGV[1] then
  return 0
end
if state ~= 'running' then
  return state == 'finished' and 1 or ARGV[2] ~= '' and stopReason == ARGV[2] and 2 or 0
end
local waiting, delayed, leased = counts()
if startEnded ~= '1' or waiting + delayed + leased > 0 or tonumber(bringsUntil or 0) > now or (ARGV[3] ~= '' and hasSent(ARGV[3])) then
  return 0
end
local stops = ARGV[2] ~= ''
if stops then
  redis.call('HSET', KEYS[1], 'state', 'stopped', 'endedAt', nowText, 'finishReason', ARGV[2], 'stopReason', ARGV[2])
else
  -- With nothing in flight, a worker that is noted there was killed, and the request that it ran is done.
  redis.call('DEL', KEYS[12])
  redis.call('HSET', KEYS[1], 'state', 'finished', 'endedAt', nowText, 'finishReason', 'finished')
end
redis.call('PUBLISH', KEYS[1] .. ':asked', '')
return stops and 2 or 1

-- A worker leaves. The last one stops the crawl, unless it is finished or goes on without workers.
--
-- Input    KEYS[1] record, KEYS[2] workers
--          ARGV[1] {worker, run, reason, lostMs, stops: the last one stops the crawl, empties: and
--          empties queue and filter, wakes: but not of a finished crawl, which goes on when seeds come}
-- Output   {1 when no other worker is present, 1 when a flush is owed and nobody does it yet}
local left = cjson.decode(ARGV[1])
local wasThere = redis.call('HDEL', KEYS[2], left.worker) == 1
local run, state, owner, silentUntil =
  unpack(redis.call('HMGET', KEYS[1], 'run', 'state', 'startOwner', 'silentUntil'))
if run ~= left.run then
  return { 0, 0 }
end
if owner == left.worker then
  redis.call('HDEL', KEYS[1], 'startOwner', 'startUntil')
end
-- When all had been silent it was Redis that was away: the others have not come back to it yet.
local since = tonumber(silentUntil or 0) >= now - left.lostMs and 0 or now - left.lostMs
local isLast = presentBesides(left.worker, since) == 0
if isLast and wasThere then
  if left.stops and state == 'running' then
    state = 'stopped'
    redis.call('HSET', KEYS[1], 'state', state, 'finishReason', left.reason, 'endedAt', nowText)
  end
  if left.empties and state == 'stopped' then
    redis.call('HDEL', KEYS[1], 'startCursor', 'startEnded')
  end
  if left.empties and state ~= 'running' and not (left.wakes and state == 'finished') then
    redis.call('HSET', KEYS[1], 'emptied', '1', 'flush', 'owed')
    redis.call('HDEL', KEYS[1], 'keepsMet')
  end
end
return { isLast and 1 or 0, redis.call('HGET', KEYS[1], 'flush') == 'owed' and 1 or 0 }

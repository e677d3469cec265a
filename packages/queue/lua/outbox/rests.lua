-- Whether a shard has nothing at all: no request, no turn that waits, is delayed or is with a worker, nothing for other shards. Workers leave it alone then, until
-- they are told (outbox/stirs.lua). One that knows of no run has lost all that it had.
--
-- Input    tellRest(requests, waiting): requests, and turns that wait in BullMQ
--          KEYS[2] quiet: the run in which it has nothing; KEYS[7] record
-- Output   published on the channel <frontier>:rests: "1" when it is quiet, else "0"; "1" when a link is in doubt
local function tellRest(requests, waiting)
  local run = redis.call('HGET', KEYS[7], 'run')
  local isQuiet = run and requests + waiting == 0 and redis.call('LLEN', KEYS[6] .. 'active') == 0
    and redis.call('ZCARD', KEYS[6] .. 'delayed') == 0 and tonumber(redis.call('HGET', KEYS[2], 'outbox') or 0) == 0
  if isQuiet then
    redis.call('HSET', KEYS[2], 'quiet', run)
  end
  redis.call('PUBLISH', KEYS[1] .. ':rests', (isQuiet and '1' or '0') .. ' ' .. redis.call('EXISTS', KEYS[6] .. 'doubts'))
end

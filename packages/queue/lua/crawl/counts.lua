-- Requests in each state, in either QUEUE_MODE. Where buckets keep counts they are right, and BullMQ's jobs are turns; but for a crawl
-- that was begun with `job`: the counts are then left from a run before.
--
-- Input    KEYS[1] record, KEYS[3] turn counts, KEYS[4] quarantine, KEYS[5…10] BullMQ's wait, paused, prioritized, waiting-children,
--          delayed, active, KEYS[11] doubts, see leasing/doubts.lua
-- Output   counts() → waiting, delayed, leased, quarantined
local function counts()
  local quarantined = redis.call('HLEN', KEYS[4])
  if redis.call('HGET', KEYS[1], 'mode') ~= 'job' and redis.call('EXISTS', KEYS[3]) == 1 then
    local turns = redis.call('HMGET', KEYS[3], 'waiting', 'delayed', 'leased')
    return tonumber(turns[1] or 0), tonumber(turns[2] or 0), tonumber(turns[3] or 0), quarantined
  end
  local waiting = redis.call('LLEN', KEYS[5]) + redis.call('LLEN', KEYS[6])
    + redis.call('ZCARD', KEYS[7]) + redis.call('ZCARD', KEYS[8])
  return waiting, redis.call('ZCARD', KEYS[9]) + redis.call('HLEN', KEYS[11]), redis.call('LLEN', KEYS[10]), quarantined
end

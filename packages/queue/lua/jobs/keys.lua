-- The keys of QUEUE_MODE=job. A request is a BullMQ job, laid out as BullMQ 6 lays out its own: hash `<prefix><job id>` with
-- name, data (JSON), opts, timestamp, delay, priority and, while it is leased, pb: the worker that has it.
--
-- Input    KEYS[1] BullMQ's prefix, ending in a colon
--          KEYS[2] active       list: leased. `<job>:lock` is the lease's token, and expires
--          KEYS[3] prioritized  zset: waiting; priority (lower first) * 2^32 + place
--          KEYS[4] delayed      zset: due at (ms) * 4096
--          KEYS[5] marker       zset: wakes one worker that waits; "0" for something to take, "1" for something due
--          KEYS[6] pc           counts up the places, until nothing waits
--          KEYS[7] events       stream
--          KEYS[8] alone, KEYS[9] quarantine, KEYS[10] histories
-- Output   the names below
local active, prioritized, delayed, marker = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local places, events, alone, quarantined, histories = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local PLACES = 2 ^ 32

local function jobKey(jobId)
  return KEYS[1] .. jobId
end

-- The end of its line, or with `lifo` the front.
local function queue(jobId, priority, lifo)
  local place = redis.call('INCR', places) % PLACES
  redis.call('ZADD', prioritized, priority * PLACES + (lifo and PLACES - 1 - place or place), jobId)
  redis.call('ZADD', marker, 0, '0')
end

local function queueFirst(jobId, priority)
  redis.call('ZADD', prioritized, priority * PLACES, jobId)
  redis.call('ZADD', marker, 0, '0')
end

local function delay(jobId, dueMs)
  redis.call('ZADD', delayed, dueMs * 4096, jobId)
  redis.call('ZADD', marker, redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2] / 4096, '1')
end

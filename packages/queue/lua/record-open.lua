-- Joins the crawl, or begins or resumes it.
--
-- Input    KEYS[1] record, KEYS[2] workers
--          ARGV[1] {worker, run: id for a new run, lostMs, begins: may follow a finished crawl, flushes: empty queue and filter}
--          ARGV[2] the worker's entry as JSON, without `at`
-- Output   {state it was in, run, begunAt, runningSince, endedAt, 1 when a flush is owed}
--          A finished crawl that is not to be followed by another stays as it is, and the worker is not noted.
local RUNS_BEFORE_CHARS = 16 * 37
local asked = cjson.decode(ARGV[1])
local record, workers = KEYS[1], KEYS[2]
local found = redis.call('HMGET', record, 'state', 'emptied', 'flush', 'flushed', 'run', 'runsBefore')
local state, isEmptied, flush, isFlushed = found[1] or 'idle', found[2], found[3], found[4]
local isOver = state == 'finished' and not asked.begins
local others = presentBesides(asked.worker, now - asked.lostMs)

if not isOver and (state == 'idle' or state == 'finished' or isEmptied) then
  flush = flush or ((state ~= 'idle' or asked.flushes) and 'owed')
  -- Whoever slept through the end of one of these learns that it ended in order.
  local before = string.sub((found[5] or '') .. ' ' .. (found[6] or ''), 1, RUNS_BEFORE_CHARS)
  redis.call('DEL', record)
  redis.call('HSET', record, 'state', 'running', 'run', asked.run, 'begunAt', nowText, 'runningSince', nowText)
  redis.call('HSET', record, 'runsBefore', before)
elseif not isOver and (state == 'stopped' or others == 0) then
  redis.call('HSET', record, 'state', 'running', 'runningSince', nowText)
  redis.call('HDEL', record, 'stopReason', 'finishReason', 'endedAt', unpack(state == 'stopped' and { 'paused' } or {}))
  if others == 0 and asked.flushes and not isFlushed then
    redis.call('HDEL', record, 'startCursor', 'startEnded', 'startOwner', 'startUntil')
    flush = flush or 'owed'
  end
end
if not isOver then
  if others == 0 then
    redis.call('DEL', workers)
  end
  if flush then
    redis.call('HSET', record, 'flush', flush)
  end
  redis.call('HSET', workers, asked.worker, '{"at":' .. nowText .. ',' .. string.sub(ARGV[2], 2))
end
local told = redis.call('HMGET', record, 'run', 'begunAt', 'runningSince', 'endedAt')
return { state, told[1], told[2], told[3], told[4] or '', flush and 1 or 0 }

-- Joins the crawl, or begins or resumes it.
--
-- Input    todoOf, owe, foundOf, begin, refusalOf, othersHave, noteAlike, noteUnlike; KEYS[1] record, KEYS[2] workers, KEYS[3] host lists, KEYS[4] failures, KEYS[5] orders for hosts, KEYS[6] turn counts
--          ARGV[1] {worker, run: id for a new run, format: its form, release: by which it is begun, lostMs, begins: may follow a finished crawl, wakes: a finished crawl goes
--          on, flushes: empty queue and filter, persists: what is seen outlives the crawl, shards: how many it has, absent for one, mode: QUEUE_MODE, absent where
--          either may join, filter: {same, settings} of its dupefilter, absent where any may join, alike: see members/alike.lua, waits: for workers that are
--          silent and have not signed off, lostRun: of which a shard is lost; where nobody is at work on it, a new one begins}
--          ARGV[2] the worker's entry as JSON, without `at`
-- Output   {state it was in, run, begunAt, runningSince, endedAt, what is owed or "", first run of the crawl, which other settings the workers at work have
--          (see members/alike.lua) or "", 1 where the crawl was to outlive its workers (persists) and this one, alone, has it emptied}
--          Or {"mode", which, how many shards} for a crawl that was begun in another mode, {"shards", how many} with another number of them,
--          {"filter", same, settings} with another filter, or what members/refusal.lua answers.
--          One that an earlier release has begun notes none: the first that joins it notes its own, and where turns are counted it is a crawl in turns.
--          A finished crawl that is neither to be followed by another nor goes on stays as it is, and the worker is not noted.
local asked = cjson.decode(ARGV[1])
local record, workers = KEYS[1], KEYS[2]
local found = foundOf(record)
local state = found.state or 'idle'
local isOver = state == 'finished' and not asked.begins and not asked.wakes
local others, present = presentBesides(asked.worker, now - asked.lostMs)
-- After an outage of Redis all are silent, and a moment later they are there again.
local silent, _, heardAt = presentBesides(asked.worker, others == 0 and 0 or math.huge)
local flushes = others == 0 and asked.flushes and (not found.flushed or state == 'finished')
local isLost = found.run and found.run == asked.lostRun and others == 0
local isNew = state == 'idle' or (state == 'finished' and asked.begins) or (state == 'stopped' and found.emptied) or isLost
local mode = found.mode or redis.call('EXISTS', KEYS[6]) == 1 and 'turns'
if isLost then
  -- The filter is to know it for an earlier crawl, which was not finished.
  found.firstRun, found.run, found.lost = asked.run, nil, asked.lostRun
end
local alike = asked.alike or { fixed = {}, together = {}, told = {} }

-- Where nothing waits it is all the same how the lines were made. What waits in several shards is not known here.
local function mayChange()
  local queued = redis.call('HMGET', KEYS[6], 'waiting', 'delayed', 'leased')
  return state == 'finished' or asked.flushes or not found.shards and (queued[1] or 0) + (queued[2] or 0) + (queued[3] or 0) == 0
end

if not isNew and not isOver and asked.mode and mode and mode ~= asked.mode then
  return { 'mode', mode, found.shards or '1' }
elseif not isNew and not isOver and (found.shards or '1') ~= (asked.shards or '1') then
  return { 'shards', found.shards or '1' }
elseif not isNew and not isOver and asked.filter and found.filter and found.filter ~= asked.filter.same then
  return { 'filter', found.filter, found.filterSettings }
elseif not isNew and not isOver then
  local refusal = refusalOf(asked, found, { others = others, silent = silent, heardAt = heardAt, flushes = flushes, mayChange = mayChange() })
  if refusal then
    return refusal
  end
end
if isNew then
  begin(record, KEYS[4], asked, found)
  redis.call('DEL', KEYS[5])
elseif not isOver and (state ~= 'running' or others == 0) then
  redis.call('HSET', record, 'state', 'running', 'runningSince', nowText)
  if state ~= 'running' then
    redis.call('HINCRBY', record, 'resumed', 1)
  end
  redis.call('HDEL', record, 'stopReason', 'finishReason', 'endedAt', 'emptied', 'refusedAs', unpack(state ~= 'running' and { 'paused' } or {}))
  if flushes then
    redis.call('HDEL', record, 'startCursor', 'startEnded', 'startOwner', 'startUntil')
    owe(record, 'all', found.untilMs or '', found.holder or '')
  end
end
if not isOver then
  if others == 0 then
    redis.call('DEL', workers, KEYS[3])
  end
  if isNew or others == 0 or not found.persists then
    redis.call('HSET', record, 'persists', asked.persists and '1' or '0')
  end
  noteAlike(record, found.alike, alike, isNew or others == 0)
  local _, noted = presentBesides(asked.worker, 0)
  noteUnlike(record, found.unlike, isNew and {} or noted, asked.worker, alike.told)
  if asked.mode and not found.mode then
    redis.call('HSET', record, 'mode', asked.mode)
  end
  if asked.filter and (isNew or not found.filter) then
    redis.call('HSET', record, 'filter', asked.filter.same, 'filterSettings', asked.filter.settings)
  end
  redis.call('HSET', workers, asked.worker, '{"at":' .. nowText .. ',' .. string.sub(ARGV[2], 2))
end
local wasKept = not isNew and not isOver and others == 0 and found.persists == '1' and not asked.persists and not flushes
local told = redis.call('HMGET', record, 'run', 'begunAt', 'runningSince', 'endedAt', 'firstRun')
return { state, told[1], told[2], told[3], told[4] or '', todoOf(record) or '', told[5] or told[1], not isNew and othersHave(found.alike, found.unlike, present, alike.told) or '', wasKept and 1 or 0 }

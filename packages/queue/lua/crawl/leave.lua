-- A worker leaves. The last one stops the crawl, unless it is finished or goes on without workers, and notes in the same step
-- what is owed to it now: until that is done no worker crawls on. Workers that may still be there are waited for: crawl-leaving.ts.
--
-- Input    todoOf, owe; KEYS[1] record, KEYS[2] workers, KEYS[3] host lists
--          ARGV[1] {worker, run, reason, lostMs, stops: the last one stops the crawl, empties: and
--          empties queue and filter, wakes: but not of a finished crawl, which goes on when seeds come, waited: it asks again}
-- Output   {1 when no other worker is present, 1 when it leaves the crawl finished, 1 when something is owed that nobody does
--          yet, 1 when it is to wait}
local left = cjson.decode(ARGV[1])
local wasThere = redis.call('HDEL', KEYS[2], left.worker) == 1
redis.call('HDEL', KEYS[3], left.worker)
local run, state, owner, silentUntil, endedAt, emptied, persists, filterLeft = unpack(redis.call('HMGET', KEYS[1],
  'run', 'state', 'startOwner', 'silentUntil', 'endedAt', 'emptied', 'persists', 'filterLeft'))
-- A worker that has waited while the crawl was woken, or while another was the last, has nothing to do.
if run ~= left.run or left.waited and (state ~= 'finished' or emptied) then
  return { 0, 0, 0, 0 }
end
if owner == left.worker then
  redis.call('HDEL', KEYS[1], 'startOwner', 'startUntil')
end
-- When all were silent it was Redis that was away: the others have not come back to it yet.
local since = tonumber(silentUntil or 0) >= now - left.lostMs and 0 or now - left.lostMs
local isLast = presentBesides(left.worker, since) == 0
if isLast and not emptied and (wasThere or left.waited) then
  if left.stops and state == 'running' then
    state = 'stopped'
    redis.call('HSET', KEYS[1], 'state', state, 'finishReason', left.reason, 'endedAt', nowText)
  end
  -- A crawl that is kept is deleted by nobody who has come to it as others were silent.
  if left.empties and persists ~= '1' and state ~= 'running' and not (left.wakes and state == 'finished') then
    if state == 'stopped' then
      redis.call('HDEL', KEYS[1], 'startCursor', 'startEnded')
    end
    redis.call('HSET', KEYS[1], 'emptied', '1')
    if filterLeft then
      -- See members/filter-place.lua. A command may have this run go on.
      redis.call('HSET', KEYS[1], 'firstRun', filterLeft)
      redis.call('HDEL', KEYS[1], 'filterLeft')
    end
    owe(KEYS[1], 'all', '', '')
  elseif state == 'finished' and not todoOf(KEYS[1]) then
    owe(KEYS[1], 'owners', '', '')
  end
  if state ~= 'running' then
    -- Of workers that were lost: nobody is left who would delete it later.
    redis.call('DEL', KEYS[3])
  end
end
local what, _, holder = todoOf(KEYS[1])
local isOwed = isLast and what ~= nil and holder == ''
local waits = not isLast and state == 'finished' and presentBesides(left.worker, endedAt + 1) == 0
return { isLast and 1 or 0, isLast and state == 'finished' and 1 or 0, isOwed and 1 or 0, waits and 1 or 0 }

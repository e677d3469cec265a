-- Begins a run in the place of the one before. Its queue is emptied, for it may hold what the other left. What was seen stays
-- where it is to outlive a crawl (SCHEDULER_PERSIST when that was run), or where it was emptied at that crawl's end.
--
-- Its ledger of failures begins empty, unless what was seen outlives a crawl: then so do the failures. With another number of shards
-- it lies elsewhere, and that of the run before is to be deleted with its shards: shardsBefore has the numbers of all runs of which that is
-- still to be done, as whoever was at it may have been killed.
--
-- Input    todoOf, owe, dropFailures; foundOf(record); begin(record, failures, asked, found), see crawl/open.lua: failures is the key of
--          the ledger, see failures/ledger.lua
-- Output   what the record says of the run before; `lost` is its id where the caller found that one lost
local RUNS_BEFORE_CHARS = 16 * 37

local function foundOf(record)
  local names = { 'state', 'emptied', 'flushed', 'persists', 'run', 'runsBefore', 'firstRun', 'shards', 'shardsBefore', 'mode', 'alike', 'unlike', 'filter', 'filterSettings', 'fires', 'scheduled', 'lostRuns', 'filterLeft' }
  local found = {}
  for n, value in ipairs(redis.call('HMGET', record, unpack(names))) do
    found[names[n]] = value or nil
  end
  found.todo, found.untilMs, found.holder = todoOf(record)
  return found
end

local function keepsMet(asked, found)
  if asked.flushes or found.todo == 'all' then
    return false
  elseif found.todo == 'queue' then
    return true
  elseif found.persists then
    return found.emptied ~= nil or found.persists == '1'
  end
  -- An earlier release wrote this record.
  return asked.persists
end

local function shardsBeforeOf(asked, found)
  local before = found.shardsBefore or ''
  if found.shards and found.shards ~= asked.shards and not string.find(' ' .. before .. ' ', ' ' .. found.shards .. ' ', 1, true) then
    before = (before == '' and '' or before .. ' ') .. found.shards
  end
  return before
end

local function begin(record, failures, asked, found)
  if not asked.persists or found.shards ~= asked.shards then
    dropFailures(failures)
  end
  -- A worker that slept through the end of one of these learns that it ended in order.
  local before = string.sub((found.run or '') .. ' ' .. (found.runsBefore or ''), 1, RUNS_BEFORE_CHARS)
  redis.call('DEL', record)
  redis.call('HSET', record, 'state', 'running', 'run', asked.run, 'format', asked.format, 'release', asked.release, 'begunAt', nowText, 'runningSince', nowText,
    'done', 0)
  redis.call('HSET', record, 'runsBefore', before, 'firstRun', found.filterLeft or found.firstRun or found.run or asked.run)
  -- What has begun a run once begins none again. A run in the place of one that was stopped and emptied, or is lost, is still the schedule's.
  redis.call('HSET', record, 'fires', found.fires or '')
  if found.scheduled and (found.emptied or found.lost) then
    redis.call('HSET', record, 'scheduled', found.scheduled)
    -- Not among those before: a worker that slept through it is to learn that it was lost.
    local lostRuns = (found.lost and found.lost .. ' ' or '') .. (found.lostRuns or '')
    if lostRuns ~= '' then
      redis.call('HSET', record, 'lostRuns', string.sub(lostRuns, 1, RUNS_BEFORE_CHARS))
    end
  end
  if found.todo or found.state or asked.flushes then
    owe(record, keepsMet(asked, found) and 'queue' or 'all', found.untilMs or '', found.holder or '')
  elseif asked.shards then
    -- Each shard must know of the run before anything comes to it.
    owe(record, 'shards', '', '')
  end
  if asked.shards then
    redis.call('HSET', record, 'shards', asked.shards)
  end
  if asked.mode then
    redis.call('HSET', record, 'mode', asked.mode)
  end
  local shardsBefore = shardsBeforeOf(asked, found)
  if shardsBefore ~= '' then
    redis.call('HSET', record, 'shardsBefore', shardsBefore)
  end
end

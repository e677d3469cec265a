-- Makes a crawl that the next worker resumes, for a command that gives it work; one that has ended goes on, and is not emptied.
--
-- Input    todoOf, owe; KEYS[1] record; ARGV[1] id for a new run, ARGV[2] "1" when start() is not to run, ARGV[3] the form of
--          a crawl that is new, [4] how many shards it has then, "" for one; [5] for how long (ms) a crawl of several shards does not
--          finish: what is brought to one of them is seen by nobody who looks at the others
--          [6] same and [7] settings of the dupefilter, "" where none is named; noted for a crawl that is new, or was emptied
--          [8] QUEUE_MODE of what is brought, "" where it is not named; noted for a crawl that is new
-- Output   {"new", "resumed" for one that had ended, "running", "emptied" while its queue has yet to be emptied, or "busy"
--          while a worker is at that; its run, the first run of the crawl}
local state, run, first, emptied, shards = unpack(redis.call('HMGET', KEYS[1], 'state', 'run', 'firstRun', 'emptied', 'shards'))
local what, untilMs, holder = todoOf(KEYS[1])
if not state and what then
  return { 'emptied', '', '' }
end
if what and holder ~= '' and tonumber(untilMs) > now then
  return { 'busy', '', '' }
end
if not state then
  shards = ARGV[4] ~= '' and ARGV[4]
end
if ARGV[6] ~= '' and (not state or emptied) then
  redis.call('HSET', KEYS[1], 'filter', ARGV[6], 'filterSettings', ARGV[7])
end
if shards then
  redis.call('HSET', KEYS[1], 'bringsUntil', string.format('%.0f', now + ARGV[5]))
end
if state == 'running' then
  return { state, run, first or run }
end
if ARGV[2] == '1' then
  redis.call('HSET', KEYS[1], 'startEnded', '1')
end
if not state then
  redis.call('HSET', KEYS[1], 'run', ARGV[1], 'format', ARGV[3], 'firstRun', ARGV[1], 'begunAt', nowText, 'runningSince', nowText,
    'done', 0)
  if shards then
    redis.call('HSET', KEYS[1], 'shards', shards)
  end
  if ARGV[8] ~= '' then
    redis.call('HSET', KEYS[1], 'mode', ARGV[8])
  end
end
redis.call('HDEL', KEYS[1], 'emptied', 'todo', 'flush', 'keepsMet')
redis.call('HSET', KEYS[1], 'state', 'stopped')
-- Shards that were emptied, or never began, do not know of the run: nor do those that were still to be emptied for it.
if shards and (not state or emptied or (what and what ~= 'owners')) then
  owe(KEYS[1], 'run', '', '')
end
return { state and 'resumed' or 'new', run or ARGV[1], first or run or ARGV[1] }

-- What is owed to a crawl before a worker crawls on: `all` and `queue` are emptied, `owners` is what its filter has kept for a
-- run that is over, its askers; `filter` is emptied alone; `shards` are emptied and told of a run, which is `run` where they are empty. A field of the record, "<what>", or "<what> <until (ms)> <worker>" while a worker is at it.
--
-- Input    todoOf(record); owe(record, what, untilMs, holder), '' for nobody
-- Output   what, untilMs, holder; nil when nothing is owed. An earlier release wrote `flush` and `keepsMet` for it.
local function todoOf(record)
  local todo, flush, keepsMet = unpack(redis.call('HMGET', record, 'todo', 'flush', 'keepsMet'))
  if flush then
    todo = (keepsMet == '1' and 'queue' or 'all') .. (flush == 'owed' and '' or ' ' .. flush)
  end
  return string.match(todo or '', '^(%a+) ?(%d*) ?(.*)$')
end

-- Redis at its maxmemory takes what begins with a command that frees.
local function owe(record, what, untilMs, holder)
  redis.call('HDEL', record, 'flush', 'keepsMet')
  redis.call('HSET', record, 'todo', what .. (holder == '' and '' or ' ' .. untilMs .. ' ' .. holder))
end

-- Which worker does what is owed, of those that find it.
--
-- Input    todoOf, owe; KEYS[1] record; ARGV[1] worker
--          ARGV[2] for how many ms it takes the task, "done" when it has done it, "owed" when it could not
--          ARGV[3] what it has done, "" when it takes the task
-- Output   what this worker is to do; "" nothing, "-" another is at it
local what, untilMs, holder = todoOf(KEYS[1])
if not what then
  return ''
end
if tonumber(ARGV[2]) then
  if holder ~= '' and holder ~= ARGV[1] and tonumber(untilMs) > now then
    return '-'
  end
  owe(KEYS[1], what, string.format('%.0f', now + ARGV[2]), ARGV[1])
  if what == 'all' or what == 'filter' or what == 'owners' then
    redis.call('HDEL', KEYS[1], 'filterJoined')
  end
  return what
end
if holder ~= ARGV[1] then
  return ''
elseif ARGV[2] == 'owed' or what ~= ARGV[3] then
  -- Another crawl has begun meanwhile, and is owed more than this worker has done.
  owe(KEYS[1], what, '', '')
elseif redis.call('HEXISTS', KEYS[1], 'state') == 1 then
  redis.call('HDEL', KEYS[1], 'todo', 'flush', 'keepsMet')
  if what == 'all' then
    redis.call('HSET', KEYS[1], 'flushed', '1')
  end
else
  redis.call('DEL', KEYS[1])
end
return ''

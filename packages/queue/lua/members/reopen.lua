-- Lets a crawl that has ended go on, as it was given work: the next worker resumes it, and empties nothing first.
--
-- Input    todoOf; KEYS[1] record
-- Output   1 when it had finished; -1 while a worker is just emptying it
local state = redis.call('HGET', KEYS[1], 'state')
local what, untilMs, holder = todoOf(KEYS[1])
if what and holder ~= '' and tonumber(untilMs) > now then
  return -1
end
if state == 'running' or not state then
  return 0
end
redis.call('HDEL', KEYS[1], 'emptied', 'todo', 'flush', 'keepsMet')
redis.call('HSET', KEYS[1], 'state', 'stopped')
return state == 'finished' and 1 or 0

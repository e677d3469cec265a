-- Notes that a worker of this run has joined its dupefilter. The worker that empties the filter removes the note, see crawl/do.lua.
-- Or owes that it is emptied, as it still knows what a crawl had met that the queue has lost: not when a worker has joined it, or when
-- anything else is owed.
--
-- Input    todoOf, owe; KEYS[1] record; ARGV[1] run; ARGV[2] "joined", or "empty"
-- Output   nothing; in another run nothing is changed
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then
  return
elseif ARGV[2] ~= 'empty' then
  redis.call('HSET', KEYS[1], 'filterJoined', '1')
elseif redis.call('HEXISTS', KEYS[1], 'filterJoined') == 0 and not todoOf(KEYS[1]) then
  owe(KEYS[1], 'filter', '', '')
end

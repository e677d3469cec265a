-- Forgets the crawl. Queue and filter are emptied next: until that is done, a worker that begins the crawl has to do it.
--
-- Input    todoOf, owe; KEYS[1] record, KEYS[2] workers, KEYS[3] alone, KEYS[4] cleared, KEYS[5] host lists; ARGV[1] since when
--          (ms ago) a worker must have been silent to count as lost, ARGV[2] "1": even while workers are present, ARGV[3] for how many ms those that
--          may still live are told that the crawl was cleared, ARGV[4] "1": asks again where workers are silent and have not signed off
-- Output   {how many workers are present, how many are silent where it is to ask again}; nothing is changed when there are any of either and they count
local present = presentBesides('', now - ARGV[1])
local silent = present == 0 and ARGV[4] == '1' and presentBesides('', 0) or 0
if present + silent > 0 and ARGV[2] ~= '1' then
  return { present, silent }
end
local run, firstRun, clearing, shards, shardsBefore, filter, filterSettings =
  unpack(redis.call('HMGET', KEYS[1], 'run', 'firstRun', 'clearing', 'shards', 'shardsBefore', 'filter', 'filterSettings'))
clearing = run and run .. ' ' .. (firstRun or run) or clearing
if run and redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('SET', KEYS[4], run, 'PX', ARGV[3])
end
local _, untilMs, holder = todoOf(KEYS[1])
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[5])
owe(KEYS[1], 'all', untilMs or '', holder or '')
-- Whoever goes on with a clearing that was cut off must find them; its filter still knows the run.
if clearing then
  redis.call('HSET', KEYS[1], 'clearing', clearing)
end
if shards then
  redis.call('HSET', KEYS[1], 'shards', shards)
end
if shardsBefore then
  redis.call('HSET', KEYS[1], 'shardsBefore', shardsBefore)
end
if filter then
  redis.call('HSET', KEYS[1], 'filter', filter, 'filterSettings', filterSettings)
end
redis.call('PUBLISH', KEYS[1] .. ':asked', '')
return { present, 0 }

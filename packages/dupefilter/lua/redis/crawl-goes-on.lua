-- Notes that a worker of a crawl is there, though it may have no question. A note that is gone stays gone: the next question
-- reports that.
--
-- Input    KEYS[1] record; ARGV[1] tag of the crawl, ARGV[2] its name
-- Output   nothing
local time = redis.call('TIME')
local nowText = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
if redis.call('HEXISTS', KEYS[1], 'crawl:' .. ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'crawl:' .. ARGV[1], nowText .. ' ' .. ARGV[2])
end

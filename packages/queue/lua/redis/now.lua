-- Redis's clock, by which all workers of a crawl judge each other.
--
-- Input    none
-- Output   now (ms), nowText
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nowText = string.format('%.0f', now)

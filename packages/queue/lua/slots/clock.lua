-- Redis's clock, by which all workers of a crawl judge each other. A test puts a clock of its own in the place of this file.
--
-- Input    none
-- Output   now (ms)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A crawl of one shard is looked at all the time.
--
-- Input    tellRest(requests, waiting), see outbox/rests.lua
-- Output   nothing
local function tellRest() end

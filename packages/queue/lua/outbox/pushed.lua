-- The answer to a push where a crawl has several shards.
--
-- Input    added
-- Output   as in buckets/steps/pushed.lua, and what was sent, see outbox/send.lua
return { added, woken, raised, sendAll() }

-- The answer where a crawl has several shards.
--
-- Input    none
-- Output   as in buckets/steps/reply.lua, and what was sent, see outbox/send.lua
return { replies, woken, raised, trimmed, sendAll() }

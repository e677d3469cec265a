-- The answer where a crawl has several shards.
--
-- Input    none
-- Output   as in buckets/steps/reply.lua, and sent, see outbox/send.lua
return { replies, woken, raised, trimmed, sent }

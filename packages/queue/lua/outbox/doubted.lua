-- The answer about links whose doubt is over, where a crawl has several shards.
--
-- Input    queued
-- Output   as in buckets/steps/doubted.lua, and sent, see outbox/send.lua
return { queued, woken, raised, sent }

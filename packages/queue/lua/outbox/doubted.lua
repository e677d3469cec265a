-- The answer about links whose doubt is over, and about what was given up and is tried again, where a crawl has several shards.
--
-- Input    queued
-- Output   as in buckets/steps/doubted.lua, and what was sent, see outbox/send.lua
return { queued, woken, raised, sendAll() }

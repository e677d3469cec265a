-- Deletes what a shard has for others, and what it knows of theirs: a crawl begins anew, or is over.
--
-- Input    ARGV[2] how many other shards, these
-- Output   nothing
for _ = 1, number() do
  redis.call('UNLINK', key('outbox', arg()))
end
redis.call('UNLINK', KEYS[1] .. ':sent', KEYS[1] .. ':applied')
-- Of minutes before these none is left; a clock that was set back may have left one that is later.
local minute = math.floor(now / 60000)
for n = minute - 2, minute + 1 do
  redis.call('UNLINK', key('ids', whole(n)))
end
redis.call('HDEL', KEYS[2], 'outbox')

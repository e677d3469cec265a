-- A shard that has too much for others takes no more, as a Redis at its maxmemory: before anything is done.
--
-- Input    ARGV[2] "grows" when something may be sent; KEYS[2] outbox, see outbox/send.lua
-- Output   none, or the error
if ARGV[2] == 'grows' and isOutboxFull() then
  return OUTBOX_FULL
end

-- A shard that has too much for others takes no more, as a Redis at its maxmemory: before anything is done.
--
-- Input    ARGV[2] "grows" when something may be sent; KEYS[2] outbox: bytes in all lists
-- Output   none, or the error
if ARGV[2] == 'grows' and tonumber(redis.call('HGET', KEYS[2], 'outbox') or 0) > OUTBOX_BYTES_MAX then
  return { err = "OOM command not allowed: the outbox is full, as another shard does not answer" }
end

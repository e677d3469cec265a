-- A shard at a moment: what is left in it, what it has for others, and what it knows of theirs.
--
-- Input    KEYS[1] <frontier>:sent, <frontier>:applied
--          KEYS[2] counts
-- Output   {replid, time (ms), {waiting, delayed, leased}, sent: shard, spans, …; applied: sender, epochs, …}
local counts = redis.call('HMGET', KEYS[2], 'waiting', 'delayed', 'leased')
return {
  replidOf(), now, { tonumber(counts[1] or 0), tonumber(counts[2] or 0), tonumber(counts[3] or 0) },
  redis.call('HGETALL', KEYS[1] .. ':sent'), redis.call('HGETALL', KEYS[1] .. ':applied'),
}

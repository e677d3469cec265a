-- Askers that wait for their queue are no staler than one that asks now.
--
-- Input    ARGV[1] {owners: [name…], …store's}
-- Output   nothing. An asker that is settled, or that nobody knows, stays so
-- A first write that Redis never refuses, so that none of the others is, not even at its maxmemory.
redis.call('HDEL', KEYS[3], '')
for _, owner in ipairs(header.owners) do
  local since = string.match(redis.call('HGET', KEYS[3], owner) or '', '^u %d+( .*)$')
  if since then
    redis.call('HSET', KEYS[3], owner, 'u ' .. nowText .. since)
  end
end

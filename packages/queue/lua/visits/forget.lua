-- Forgets pages. Their entries in the wheel are dropped when they come up.
--
-- Input    keyAndField, counted, sampled; KEYS[1] base; ARGV[2…] 8 bytes of each fingerprint
-- Output   of each 1 when it was known
local base, gone = KEYS[1], {}
for i = 1, number() do
  local name = arg()
  local key, field = keyAndField(base, name)
  local before = redis.call('HGET', key, field)
  gone[i] = before and 1 or 0
  if before then
    redis.call('HDEL', key, field)
    counted(base, before, nil)
    sampled(base, name, nil)
  end
end
return gone

-- Removes messages that are done.
--
-- Input    KEYS[1] processing, KEYS[2] leases, KEYS[3] invalid (list); ARGV[1] how many invalid ones are kept
--          ARGV[2…] id, entry, id, entry, …; entry: what goes to the invalid list, "" for a message whose requests are queued
-- Output   nothing; sent twice, it does nothing the second time
local isInvalid = false
for i = 2, #ARGV, 2 do
  local id, entry = ARGV[i], ARGV[i + 1]
  if redis.call('HDEL', KEYS[1], id) == 1 then
    redis.call('ZREM', KEYS[2], id)
    if entry ~= '' then
      redis.call('RPUSH', KEYS[3], entry)
      isInvalid = true
    end
  end
end
if isInvalid then
  redis.call('LTRIM', KEYS[3], -ARGV[1], -1)
end

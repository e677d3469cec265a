-- Keeps a value in the younger of two generations. When that is full, the older one is forgotten and the younger takes its place.
--
-- Input    KEYS[1] younger, KEYS[2] older; ARGV[1] field, ARGV[2] value, ARGV[3] bytes that a field takes beside its text,
--          ARGV[4] bytes of a generation, ARGV[5] for how long it is needed, ms
-- Output   1 when the older generation was forgotten
local before = redis.call('HGET', KEYS[1], ARGV[1])
local grown = before and #ARGV[2] - #before or #ARGV[1] + #ARGV[2] + ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[5]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
if redis.call('HINCRBY', KEYS[1], 'bytes', grown) < tonumber(ARGV[4]) then
  return 0
end
local forgotten = redis.call('UNLINK', KEYS[2])
redis.call('RENAMENX', KEYS[1], KEYS[2])
return forgotten

-- Notes how a fire of a schedule went, and counts it: once, though it is noted again by whoever takes it up after a kill.
--
-- Input    KEYS[1] how the latest fires went, KEYS[2] counts of fires
--          ARGV[1] name of the schedule, ARGV[2] how it went, as JSON, ARGV[3] field of the count
-- Output   nothing
local before = redis.call('HGET', KEYS[1], ARGV[1])
local noted = cjson.decode(ARGV[2])
local known = before and cjson.decode(before) or {}
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if known.fire ~= noted.fire or known.outcome ~= noted.outcome then
  redis.call('HINCRBY', KEYS[2], ARGV[3], 1)
end

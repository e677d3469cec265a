-- Notes how a fire of a schedule went, and counts it: once, though it is noted again by whoever takes it up after a kill. In the same step
-- it notes that people are to be told.
--
-- Input    KEYS[1] how the latest fires went, KEYS[2] counts of fires, KEYS[3] what people are yet to be told
--          ARGV[1] name of the schedule, ARGV[2] how it went, as JSON, ARGV[3] field of the count
--          ARGV[4] id of what people are to be told, "" for nothing, ARGV[5] that, as JSON, ARGV[6] so much waits at most
-- Output   nothing
local before = redis.call('HGET', KEYS[1], ARGV[1])
local noted = cjson.decode(ARGV[2])
local known = before and cjson.decode(before) or {}
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if known.fire ~= noted.fire or known.outcome ~= noted.outcome then
  redis.call('HINCRBY', KEYS[2], ARGV[3], 1)
  if ARGV[4] ~= '' and redis.call('HLEN', KEYS[3]) < tonumber(ARGV[6]) then
    redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
  end
end

-- Changes what people are yet to be told, unless somebody else has since it was read.
--
-- Input    KEYS[1] hash: id → what is to be told, as JSON
--          ARGV[1] id, ARGV[2] what is to be told as it was read, ARGV[3] the new one, "" when it is told
-- Output   1 when it is changed
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1

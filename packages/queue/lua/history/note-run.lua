-- Changes what monitors have noted of a run, unless somebody else has since it was read.
--
-- Input    KEYS[1] hash: run → its notes as JSON
--          ARGV[1] run, ARGV[2] its notes as they were read, "" for none, ARGV[3] the new ones
-- Output   1 when they are written
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1

-- Adds a verdict on a shape: in which form its pages must be fetched.
--
-- Input    KEYS[1] hash: shape → "<form> <how many verdicts in a row>"
--          ARGV[1] shape, ARGV[2] form, ARGV[3] where counting stops, ARGV[4] most shapes
-- Output   how many verdicts in a row are of that form now; where there is no room for another shape, any one is forgotten
local before = redis.call('HGET', KEYS[1], ARGV[1])
local form, agreeing = string.match(before or '', '^(%a+) (%d+)$')
local now = 1
if form == ARGV[2] then now = math.min(tonumber(ARGV[3]), tonumber(agreeing) + 1) end
if not before and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then
  redis.call('HDEL', KEYS[1], redis.call('HRANDFIELD', KEYS[1]))
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. now)
return now

-- Adds a verdict on a shape: in which form its pages must be fetched.
--
-- Input    KEYS[1] hash: shape → "<form> <how many verdicts in a row>"
--          ARGV[1] shape, ARGV[2] form, ARGV[3] where counting stops, ARGV[4] most shapes
-- Output   how many verdicts in a row are of that form now; where there is no room for another shape it is not kept
local before = redis.call('HGET', KEYS[1], ARGV[1])
local form, agreeing = string.match(before or '', '^(%a+) (%d+)$')
local now = 1
if form == ARGV[2] then now = math.min(tonumber(ARGV[3]), tonumber(agreeing) + 1) end
if before or redis.call('HLEN', KEYS[1]) < tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. now)
end
return now

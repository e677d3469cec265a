-- Holds a message back until its own time has come; then any worker takes it.
--
-- Input    KEYS[1] processing, KEYS[2] leases; ARGV[1] id, ARGV[2] delay (ms), from when it was taken
-- Output   nothing
local held = redis.call('HGET', KEYS[1], ARGV[1])
if held then
  local lineEnd = string.find(held, '\n', 1, true)
  local ms, worker = string.match(string.sub(held, 1, lineEnd - 1), '^(%d+) %a+ (%S+)$')
  redis.call('HSET', KEYS[1], ARGV[1], ms .. ' delayed ' .. worker .. string.sub(held, lineEnd))
  redis.call('ZADD', KEYS[2], 'XX', string.format('%.0f', ms + ARGV[2]), ARGV[1])
end

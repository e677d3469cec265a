-- Goes on holding messages.
--
-- Input    KEYS[1] leases; ARGV[1] lease (ms), ARGV[2…] ids
-- Output   nothing; what is not in work any more stays so, and what is held for longer already stays held for longer
local time = redis.call('TIME')
local heldUntil = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1])
local held = {}
for i = 2, #ARGV do
  held[#held + 1], held[#held + 2] = heldUntil, ARGV[i]
end
redis.call('ZADD', KEYS[1], 'XX', 'GT', unpack(held))

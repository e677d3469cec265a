-- Adds a layer, unless another worker was faster.
--
-- Input    KEYS[1] record; ARGV[1] its number, ARGV[2] layer (JSON)
-- Output   1 when it was added
if tonumber(redis.call('HGET', KEYS[1], 'layers') or 1) ~= tonumber(ARGV[1]) then
  return 0
end
redis.call('HSET', KEYS[1], 'layers', ARGV[1] + 1, 'layer:' .. ARGV[1], ARGV[2])
return 1

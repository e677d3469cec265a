-- Opens a Bloom filter: its record, made now if there is none.
--
-- Input    KEYS[1] the first string of bits, KEYS[2] record
--          ARGV[1] parameters (JSON), ARGV[2] layer 0 (JSON), ARGV[3] "1" when bits without a record are welcome
-- Output   {"opened" | "made" | "foreign", whether there are bits (0 or 1), field, value, …}
local bits = redis.call('EXISTS', KEYS[1])
local found = 'opened'
if redis.call('HEXISTS', KEYS[2], 'parameters') == 0 then
  if bits == 1 and ARGV[3] ~= '1' then
    return { 'foreign', bits }
  end
  found = 'made'
  redis.call('HSET', KEYS[2], 'parameters', ARGV[1], 'layers', 1, 'layer:0', ARGV[2])
end
return { found, bits, unpack(redis.call('HGETALL', KEYS[2])) }

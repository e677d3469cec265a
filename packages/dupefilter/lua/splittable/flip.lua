-- Makes an inner node of a leaf whose members are all in its children.
--
-- Input    KEYS[1] tree, KEYS[2] leaves, KEYS[3] its bits, KEYS[4] its marks; ARGV[1] node, ARGV[2] bytes a mark
-- Output   1 when it is one
local state = redis.call('HGET', KEYS[1], ARGV[1]) or ''
local done = tonumber(string.match(state, '^frozen (%d+)') or -1)
if done * ARGV[2] < redis.call('STRLEN', KEYS[4]) then
  return state == 'inner' and 1 or 0
end
redis.call('HSET', KEYS[1], ARGV[1], 'inner')
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('UNLINK', KEYS[3], KEYS[4])
return 1

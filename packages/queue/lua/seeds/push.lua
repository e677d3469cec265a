-- Adds a batch of messages to the start URLs, once, however often it is sent.
--
-- Input    KEYS[1] start URLs; KEYS[2] push (string): the last batch that was added, and what was answered to it
--          ARGV[1] number of the batch, ARGV[2] what to make when nothing waits: list, set or zset
--          ARGV[3] front or back, for a list; ARGV[4] how long the push is remembered (s); ARGV[5…] score, message, …
-- Output   {what it is, how many were not in it, its length}; the error WEBLOOM_SEEDSKIND <type> when KEYS[1] is none of the three
local batch = tonumber(ARGV[1])
local done = redis.call('GET', KEYS[2])
if done and cjson.decode(done)[1] >= batch then
  return cjson.decode(done)[2]
end
local kind = redis.call('TYPE', KEYS[1]).ok
kind = kind == 'none' and ARGV[2] or kind
local isFront = kind == 'list' and ARGV[3] == 'front'
local from, to, step = 5, #ARGV - 1, 2
if isFront then
  from, to, step = to, from, -2
end
local added = {}
for i = from, to, step do
  if kind == 'zset' then
    added[#added + 1] = ARGV[i]
  end
  added[#added + 1] = ARGV[i + 1]
end
local verbs = { list = isFront and 'LPUSH' or 'RPUSH', set = 'SADD', zset = 'ZADD' }
local lengths = { list = 'LLEN', set = 'SCARD', zset = 'ZCARD' }
if not verbs[kind] then
  return redis.error_reply('WEBLOOM_SEEDSKIND ' .. kind)
end
local answer = redis.call(verbs[kind], KEYS[1], unpack(added))
local length = redis.call(lengths[kind], KEYS[1])
local reply = { kind, kind == 'list' and (#ARGV - 4) / 2 or answer, length }
redis.call('SET', KEYS[2], cjson.encode({ batch, reply }), 'EX', ARGV[4])
return reply

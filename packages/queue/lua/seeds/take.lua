-- Takes messages to be worked on: first those that no worker holds any more, then those that wait.
--
-- Input    KEYS[1] start URLs   list (from the left), set, or sorted set (highest score first)
--          KEYS[2] processing   hash  id → "<ms> <state> <worker>\n<message>": taken when, and by whom
--                               state: held; delayed, until its own time has come; due, held after its delay
--          KEYS[3] leases       sorted set  id → until when no other worker gets it (ms)
--          KEYS[4] record       hash  last: number of the message taken last
--          ARGV[1] most, ARGV[2] worker, ARGV[3] lease (ms)
-- Output   {id, was, message, …}; was: "new", or its state before. The error WEBLOOM_SEEDSKIND <type>
--          when KEYS[1] is none of the three
local time, taken = redis.call('TIME'), {}
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function take(id, was, message)
  local state = (was == 'delayed' or was == 'due') and 'due' or 'held'
  redis.call('HSET', KEYS[2], id, string.format('%.0f %s %s\n', now, state, ARGV[2]) .. message)
  redis.call('ZADD', KEYS[3], string.format('%.0f', now + ARGV[3]), id)
  taken[#taken + 1], taken[#taken + 2], taken[#taken + 3] = id, was, message
end

local kind = redis.call('TYPE', KEYS[1]).ok
local pop = ({ list = 'LPOP', set = 'SPOP', zset = 'ZPOPMAX' })[kind]
if not pop and kind ~= 'none' then
  return redis.error_reply('WEBLOOM_SEEDSKIND ' .. kind)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])) do
  local held = redis.call('HGET', KEYS[2], id)
  if held then
    take(id, string.match(held, '^%d+ (%a+)'), string.sub(held, string.find(held, '\n', 1, true) + 1))
  else
    redis.call('ZREM', KEYS[3], id)
  end
end
local wanted = ARGV[1] - #taken / 3
if pop and wanted > 0 then
  local last = redis.call('HINCRBY', KEYS[4], 'last', wanted) - wanted
  local popped = redis.call(pop, KEYS[1], wanted)
  -- ZPOPMAX answers with each score behind its message.
  for i = 1, #popped, kind == 'zset' and 2 or 1 do
    last = last + 1
    -- The time in it: a Redis that comes back a second older must not give a number out twice.
    take(string.format('%.0f-%.0f', now, last), 'new', popped[i])
  end
end
return taken

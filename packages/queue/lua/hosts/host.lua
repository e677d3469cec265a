-- A host's keys and fields, and the clock. Every script of host turns begins with this file.
--
-- Input    KEYS[1] turns    <turns>:host:<host>             hash  next, was; floor, failures, paused, why; up, urgency, asleep,
--                                                                 folded, idle, prios, late; of each open lane g<lane>
--                                                                 generation, o<lane> its holder
--                           <turns>:paused                  zset  host → until when it is paused (ms)
--                           <turns>:line:<priority>:<host>  list  requests that wait
--                           <turns>:prios:<host>            zset  priorities other than 0 that have a line
--                           <turns>:late:<host>             zset  "<priority>\n<unique>\n<request>" → when it may go (ms)
--                           <turns>:flight:<lane>:<host>    hash  token → "<priority>\n<request>", in flight on that lane
--                           <turns>:due                     zset  unit, "<host>~<lane>~<generation>" → when to look after it
--                           <turns>:lost:<holder>           requests that this holder had were reclaimed
--                           <turns>:heard                   hash  worker → its latest command, see turns/steps/said.lua
--          KEYS[2] counts, KEYS[3] alone, KEYS[4] quarantine, KEYS[5] its histories, KEYS[6] BullMQ's prefix and queue with
--          a colon, KEYS[7] record, KEYS[8] noted
--          ARGV[1] order: priority, fifo, lifo
-- Output   LANES_MAX, now, key, hostOf, set, arg, number; moved, woken and raised, which tally() and the replies make use of
local LANES_MAX = 16
local order, at, hosts = ARGV[1], 1, {}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local moved, woken, raised = { waiting = 0, delayed = 0, leased = 0 }, {}, {}

local function arg()
  at = at + 1
  return ARGV[at]
end

local function number()
  return tonumber(arg())
end

local function whole(ms)
  return string.format('%.0f', ms)
end

local function key(kind, host, part)
  return KEYS[1] .. ':' .. kind .. ':' .. (part and part .. ':' or '') .. host
end

local function hostOf(name)
  if not hosts[name] then
    local host, fields = { name = name }, redis.call('HGETALL', key('host', name))
    for i = 1, #fields, 2 do
      host[fields[i]] = fields[i + 1]
    end
    hosts[name] = host
  end
  return hosts[name]
end

local function set(host, field, value)
  if host[field] == value then
    return
  end
  host[field] = value
  if value then
    redis.call('HSET', key('host', host.name), field, value)
  else
    redis.call('HDEL', key('host', host.name), field)
  end
end

local function tally()
  for state, by in pairs(moved) do
    if by ~= 0 then
      redis.call('HINCRBY', KEYS[2], state, by)
    end
  end
end

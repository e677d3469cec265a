-- Keys and fields of buckets, units and slots. Every script of buckets begins with slots/clock.lua and this file.
--
-- A slot is what shares one politeness: a host, a domain, an address. Slots are hashed into buckets. A unit is what a BullMQ job
-- stands for: a bucket "#<n>", or a slot that is hot, by its own name. A unit has lanes; a bucket has one.
--
-- Input    KEYS[1] frontier <frontier>:unit:<unit>          hash  up, of each open lane g<lane> generation, o<lane> its holder;
--                                                                 urgency, asleep, rests, folded; late, urgent: "1" where there
--                                                                 are such keys; later: the first one's time (ms); paced: "1" when
--                                                                 a slot of it had to wait; of a hot slot bucket, mixed: how many
--                                                                 are in flight in its bucket
--                           <frontier>:lines:<bucket>       hash  slot → its line, see slots/lines.lua
--                           <frontier>:line:<priority>:<slot> list  requests of a long line
--                           <frontier>:prios:<slot>         zset  priorities other than 0 that have such a list
--                           <frontier>:ready:<priority>:<bucket> list  slots that may be taken, see slots/ready.lua
--                           <frontier>:urgent:<bucket>      zset  priorities other than 0 that have such a list
--                           <frontier>:later:<bucket>       zset  slot → when it may be asked (ms)
--                           <frontier>:with:<bucket>        set   slots that the holder has, of which something waits
--                           <frontier>:late:<unit>          zset  "<slot>\n<priority>\n<unique>\n<request>" → when it may go (ms)
--                           <frontier>:flight:<lane>:<unit> hash  token → "<slot>\n<priority>\n<request>"
--                           <frontier>:slot:<slot>          string what is known of it, see slots/record.lua
--                           <frontier>:started:<worker>     set   "<unit>~<lane> <token>" of requests in flight that have started
--                           <frontier>:paused               zset  slot → until when it is paused (ms)
--                           <frontier>:due                  zset  "<unit>~<lane>~<generation>" → since when its job is owed to BullMQ; 30 s later than when it was last there
--                           <frontier>:lost:<holder>        string of tokens: requests of this holder that were reclaimed
--                           <frontier>:heard                hash  worker → its latest command, see buckets/steps/command.lua
--          KEYS[2] counts, KEYS[3] alone, KEYS[4] quarantine, KEYS[5] its histories, KEYS[6] BullMQ's prefix and queue with
--          a colon, KEYS[7] record, KEYS[8] noted
--          ARGV[1] order: priority, fifo, lifo
-- Output   LANES_MAX, key, unitOf, set, arg, number; moved, woken and raised, which tally() and the replies make use of
local LANES_MAX = 16
local order, at, units, prefix = ARGV[1], 1, {}, KEYS[1] .. ':'
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

local function key(kind, name, part)
  if part then
    return prefix .. kind .. ':' .. part .. ':' .. name
  end
  return prefix .. kind .. ':' .. name
end

local function isBucket(name)
  return string.byte(name) == 35
end

local function unitOf(name)
  if not units[name] then
    local unit, fields = { name = name }, redis.call('HGETALL', key('unit', name))
    for i = 1, #fields, 2 do
      unit[fields[i]] = fields[i + 1]
    end
    units[name] = unit
  end
  return units[name]
end

local function set(unit, field, value)
  if unit[field] == value then
    return
  end
  unit[field] = value
  if value then
    redis.call('HSET', key('unit', unit.name), field, value)
  else
    redis.call('HDEL', key('unit', unit.name), field)
  end
end

local function tally()
  for state, by in pairs(moved) do
    if by ~= 0 then
      redis.call('HINCRBY', KEYS[2], state, by)
    end
  end
end

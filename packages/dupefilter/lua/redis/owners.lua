-- Which asker was told "new" for which member. Every filter's script begins with this file; then comes the filter's own, then
-- redis/ask.lua. Keys and fields say owner for the asker, as earlier releases read them.
--
-- Input    KEYS[2] pending   hash  member → "<ms>:<asker>\n<attempts>", when it was asked about, by which asker; "" when the next
--                                  asker may have it. Attempts: the last one that was told so, with a space before it one of another
--                                  process, which was told so, too, and may still be under way
--          KEYS[3] owners    hash  asker → "u <ms> <attempt>" unsettled, "s <ms> <run>" settled; attempt "*": more than one;
--                                  "u <ms> <attempt> <bound> <run>": was settled in that run, and asks again; what it held
--                                  until <bound> (ms) is queued, 0: nothing is, as the queue has gone back since.
--                                  Earlier releases wrote "u <ms> +<attempt>" for it
--          KEYS[4] settled   list  "<ms> <run> <asker>", oldest first
--          KEYS[3]:<asker>   list  the members that pending gives to this asker
--          ARGV[1] header    JSON, see redis/ask.lua
--          KEYS[5] record    hash  generation: another one after `clear` and `forget`; fingerprinter; shard;
--                                  heardAt, silentUntil: see redis/heard.lua;
--                                  crawl:<tag> → "<ms> <name>", when a crawl was last heard of
--          Where several crawls share the filter, the names of a crawl's askers end in its tag, and KEYS[4] is its own list
-- Output   header, now, nowText, membersOf, stateOf, isBefore, isAmong(attempt, attempts), otherThan(attempt, attempts), generation
local header = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nowText = string.format('%.0f', now)

local function membersOf(owner)
  return KEYS[3] .. ':' .. owner
end

-- kind, ms, attempt or run, bound and its run or ""; nothing for an unknown asker
local function partsOf(state)
  if state then
    return string.match(state, '^(%a) (%d+) (%S*) ?(%d*) ?(.*)$')
  end
end

local function stateOf(owner)
  return partsOf(redis.call('HGET', KEYS[3], owner))
end

-- Whether an entry of pending was noted before its asker was settled: both are milliseconds of 13 digits.
local function isBefore(held, bound)
  return bound ~= nil and string.sub(held, 1, 13) <= bound
end

local function isAmong(attempt, attempts)
  return string.find(' ' .. attempts .. ' ', ' ' .. attempt .. ' ', 1, true) ~= nil
end

-- nil when there is no other one
local function otherThan(attempt, attempts)
  local other
  for one in string.gmatch(attempts, '%S+') do
    other = one ~= attempt and one or other
  end
  return other
end

-- Made by the first question, so that a filter that was cleared, or lost with its Redis, gets another one.
-- Returns the generation, and 0 when the crawl should be noted and is not. That is checked where there was no generation, and
-- about once a second, as another client may have made one meanwhile.
local function generation(make)
  local known, isKnown = redis.call('HGET', KEYS[5], 'generation'), 1
  if header.crawl and (header.notesCrawl or (make and not known)) then
    -- With the name, though its worker may be gone before it can tell that: else it would be nobody's, and keep the filter.
    local isFirst = redis.call('HSET', KEYS[5], 'crawl:' .. header.crawl, nowText .. ' ' .. header.crawlName)
    isKnown = make and isFirst == 1 and 0 or 1
  end
  if not known and header.shard and (make or header.heard or header.notesCrawl) then
    -- One that does not say which part it is looks like that of a whole filter: also where pages are only settled.
    redis.call('HSETNX', KEYS[5], 'shard', header.shard)
  end
  if not known and make then
    known = time[1] .. '.' .. time[2]
    redis.call('HSET', KEYS[5], 'generation', known, 'fingerprinter', header.fingerprinter)
  end
  return known or '', isKnown
end

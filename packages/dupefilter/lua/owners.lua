-- Who was told "new" for what. Every filter's script begins with this file; then comes the filter's own, then ask.lua.
--
-- Input    KEYS[2] pending   hash  member → "<ms>:<owner>\n<attempt>", asked when, by whom; "" when anybody may have it
--          KEYS[3] owners    hash  owner → "u <ms> <attempt>" asked, "s <ms> <run>" settled; attempt "*": more than one,
--                                  "+…": one after the owner was settled, which leaves alone what was queued then
--          KEYS[4] settled   list  "<ms> <run> <owner>", oldest first
--          KEYS[3]:<owner>   list  the members that pending gives to this owner
--          ARGV[1] header    JSON, see ask.lua
--          KEYS[5] record    hash  generation: another one after `clear` and `forget`; fingerprinter; shard;
--                                  crawl:<tag> → "<ms> <name>", when a crawl was last heard of
--          Where several crawls share the filter, the names of a crawl's owners end in its tag, and KEYS[4] is its own list
-- Output   header, now, nowText, membersOf, stateOf, generation
local header = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nowText = string.format('%.0f', now)

local function membersOf(owner)
  return KEYS[3] .. ':' .. owner
end

-- kind, ms, attempt or run; nothing for an owner that is not known
local function stateOf(owner)
  local state = redis.call('HGET', KEYS[3], owner)
  if state then
    return string.match(state, '^(%a) (%d+) (.*)$')
  end
end

-- Made by whoever asks first, so that a filter that was cleared, or lost with its Redis, has another one.
-- Answers it, and 0 when the asker's crawl was to be known and is not: looked at where there was none, and about once a
-- second, as somebody else may have made it meanwhile.
local function generation(make)
  local known, isKnown = redis.call('HGET', KEYS[5], 'generation'), 1
  if header.crawl and (header.crawlName or (make and not known)) then
    local isFirst = redis.call('HSET', KEYS[5], 'crawl:' .. header.crawl, nowText .. ' ' .. (header.crawlName or ''))
    isKnown = make and isFirst == 1 and 0 or 1
  end
  if not known and make then
    known = time[1] .. '.' .. time[2]
    redis.call('HSET', KEYS[5], 'generation', known, 'fingerprinter', header.fingerprinter)
    if header.shard then
      redis.call('HSET', KEYS[5], 'shard', header.shard)
    end
  end
  return known or '', isKnown
end

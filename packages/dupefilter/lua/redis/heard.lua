-- Whether workers could say of late what they have settled. While Redis was away, or full, they could not: their owners are no
-- more stale when it is back than they were before.
--
-- Input    header.staleMs; header.silenceMs: nobody was heard for so long, it was Redis; header.heard: this call is noted
--          KEYS[5] record: heardAt, when a question was last noted, about once a second; silentUntil, when one was after a
--          silence; silences, how many of them were heard of one after the other
-- Output   wasSilent(), noteHeard()
-- A Redis that goes away again and again; after more silences it is a crawl that asks seldom.
local SILENCES_MAX = 5
local silence, silences
local function silentUntil()
  if not silence then
    local heardAt, before, count = unpack(redis.call('HMGET', KEYS[5], 'heardAt', 'silentUntil', 'silences'))
    local isSilence = heardAt and now - heardAt > header.silenceMs
    silences = isSilence and (count or 0) + 1 or 0
    silence = isSilence and silences <= SILENCES_MAX and nowText or before or '0'
  end
  return silence
end

local function wasSilent()
  return now - silentUntil() <= header.staleMs
end

-- A full Redis refuses it, and so was not heard.
local function noteHeard()
  if header.heard then
    redis.pcall('HSET', KEYS[5], 'heardAt', nowText, 'silentUntil', silentUntil(), 'silences', silences)
  end
end

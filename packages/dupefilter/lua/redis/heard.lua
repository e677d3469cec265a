-- Whether workers were able to settle their askers lately. While Redis was away, or full, they were not: when it is back, their
-- askers are no more stale than before.
--
-- Input    header.staleMs; header.silenceMs: when no question was noted for so long, Redis was away; header.heard: this call is
--          noted
--          KEYS[5] record: heardAt, when a question was last noted, about once a second; silentUntil, when the first one was
--          noted after a silence; silences, how many there were one after the other
-- Output   wasSilent(), noteHeard()
-- After so many silences in a row it is no Redis that goes away again and again, but a crawl that seldom asks.
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

-- A full Redis refuses this write, so that the question is not noted. It must be the first of its script: after one that frees
-- memory Redis takes all others, and a question that only tidies up would be noted where no asker could be settled.
local function noteHeard()
  if header.heard then
    redis.pcall('HSET', KEYS[5], 'heardAt', nowText, 'silentUntil', silentUntil(), 'silences', silences)
  end
end

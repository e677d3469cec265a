-- Whether workers could say of late what they have settled. While Redis was away, or full, they could not: their owners are no
-- more stale when it is back than they were before.
--
-- Input    header.staleMs; header.silenceMs: nobody was heard for so long, it was Redis; header.heard: this call is noted
--          KEYS[5] record: heardAt, when a question was last noted, about once a second; silentUntil, when one was after a
--          silence
-- Output   wasSilent(), noteHeard()
local silence
local function silentUntil()
  if not silence then
    local heardAt, before = unpack(redis.call('HMGET', KEYS[5], 'heardAt', 'silentUntil'))
    -- Heard once between two silences: that is a crawl that asks seldom.
    local isNew = heardAt and now - heardAt > header.silenceMs and heardAt ~= before
    silence = isNew and nowText or before or '0'
  end
  return silence
end

local function wasSilent()
  return now - silentUntil() <= header.staleMs
end

-- A full Redis refuses it, and so was not heard.
local function noteHeard()
  if header.heard then
    redis.pcall('HSET', KEYS[5], 'heardAt', nowText, 'silentUntil', silentUntil())
  end
end

-- Requests in each state.
--
-- Input    KEYS[2] counts, KEYS[4] quarantine, as in slots/keys.lua. That file is left out, as this script runs several times a second
-- Output   {waiting, delayed, leased, quarantined}
local counts = redis.call('HMGET', KEYS[2], 'waiting', 'delayed', 'leased')
return { tonumber(counts[1] or 0), tonumber(counts[2] or 0), tonumber(counts[3] or 0), redis.call('HLEN', KEYS[4]) }

-- Requests in each state.
--
-- Input    none
-- Output   {waiting, delayed, leased, quarantined}
local counts = redis.call('HMGET', KEYS[2], 'waiting', 'delayed', 'leased')
return { tonumber(counts[1] or 0), tonumber(counts[2] or 0), tonumber(counts[3] or 0), redis.call('HLEN', KEYS[4]) }

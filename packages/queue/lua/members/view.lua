-- The crawl at one moment.
--
-- Input    KEYS as in crawl/counts.lua, KEYS[1] record, KEYS[2] workers
-- Output   {now, record as a flat list, workers as a flat list, {waiting, delayed, leased, quarantined}}
return { nowText, redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), { counts() } }

-- Input    KEYS as in crawl/counts.lua
-- Output   {waiting, delayed, leased, quarantined}
return { counts() }

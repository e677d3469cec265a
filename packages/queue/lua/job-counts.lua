-- Input    KEYS as in record-counts.lua
-- Output   {waiting, delayed, leased, quarantined}
return { counts() }

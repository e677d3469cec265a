-- The whole ledger of failures of a crawl.
--
-- Input    dropFailures(failures): key of the ledger, see failures/ledger.lua
-- Output   nothing; what is in quarantine stays
local function dropFailures(failures)
  for _, signature in ipairs(redis.call('ZRANGE', failures .. ':sizes', 0, -1)) do
    redis.call('UNLINK', failures .. ':of:' .. signature)
  end
  redis.call('UNLINK', failures, failures .. ':sizes', failures .. ':counts', failures .. ':signatures', failures .. ':snapshots')
end

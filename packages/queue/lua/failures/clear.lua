-- Forgets all failures and all requests in quarantine, in one step: one that comes meanwhile is kept whole, or is not there.
--
-- Input    dropFailures; KEYS[1] failures, see failures/ledger.lua, KEYS[2] quarantine, KEYS[3] its histories
-- Output   nothing
dropFailures(KEYS[1])
redis.call('UNLINK', KEYS[2], KEYS[3])

-- Takes failures out of the ledger, each only as long as it is the one that was read: a request that was retried meanwhile may
-- have failed again.
--
-- Input    forgetFailure; takeFailure(base, quarantined, id, key): quarantined, the hash of requests in quarantine; key "f<number>" or "q<when>"
-- Output   true when it was there, and is no more
local function takeFailure(base, quarantined, id, key)
  local kind, n = string.sub(key, 1, 1), string.sub(key, 2)
  if kind == 'q' then
    local kept = redis.call('HGET', quarantined, id)
    return kept and string.match(kept, '"quarantinedAt":(%d+)}$') == n and redis.call('HDEL', quarantined, id) == 1
  end
  local kept = redis.call('HGET', base .. 'failures', id)
  return kept and string.match(kept, '^[^\n]*\n{"number":(%d+),') == n and forgetFailure(base, id) ~= nil
end

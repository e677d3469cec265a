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

-- Nothing may be queued in a crawl that has ended: what is queued then would be deleted, by its last worker or a new run. A crawl
-- without a record is one of tests.
local function hasEnded(record)
  local state, emptied, flush, todo = unpack(redis.call('HMGET', record, 'state', 'emptied', 'flush', 'todo'))
  local isEmptied = emptied or flush or todo and string.sub(todo, 1, 6) ~= 'owners'
  return state == 'finished' or isEmptied
end

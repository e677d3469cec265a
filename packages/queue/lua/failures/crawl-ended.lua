-- Whether a crawl has ended. Nothing may be queued in one then: what is queued would be deleted, by its last worker or a new run. A crawl
-- without a record is one of tests.
--
-- Input    hasEnded(record)
-- Output   true when it has ended
local function hasEnded(record)
  local state, emptied, flush, todo = unpack(redis.call('HMGET', record, 'state', 'emptied', 'flush', 'todo'))
  local isEmptied = emptied or flush or todo and string.sub(todo, 1, 6) ~= 'owners'
  return state == 'finished' or isEmptied
end

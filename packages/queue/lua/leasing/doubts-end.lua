-- The doubt about some links is over.
--
-- Input    endDoubts(base, putAway, queue): of ARGV, read by arg() and number(): token, ids that go, ids that are still in doubt
--          and may be asked about again as any other, and those to be quarantined, each with why; queue(isIn): queues the fresh ones that isIn(id) says are in there
-- Output   ids that were queued, one a line; how many are gone from here. The same again for a token of before
local function endDoubts(base, putAway, queue)
  local ended, gone, queued = base .. 'doubts:ended:' .. arg(), 0, {}
  local before = redis.call('GET', ended)
  if before then
    return before, 0
  end
  for _ = 1, number() do
    gone = gone + drop(base, arg())
  end
  for _ = 1, number() do
    redis.call('ZADD', base .. 'doubts:since', 'XX', string.format('%.0f', now), arg())
  end
  for _ = 1, number() do
    local id, text, why = arg(), arg(), arg()
    if drop(base, id) == 1 then
      gone = gone + 1
      putAway(text, why)
    end
  end
  queue(function(id)
    local isIn = drop(base, id) == 1
    if isIn then
      gone, queued[#queued + 1] = gone + 1, id
      redis.call('ZADD', base .. 'doubts:queued', string.format('%.0f', now), id)
    end
    return isIn
  end)
  local ids = table.concat(queued, '\n')
  if ids ~= '' then
    redis.call('ZREMRANGEBYSCORE', base .. 'doubts:queued', '-inf', string.format('%.0f', now - QUEUED_KEPT_MS))
    redis.call('PEXPIRE', base .. 'doubts:queued', QUEUED_KEPT_MS)
    redis.call('SET', ended, ids, 'PX', ENDED_KEPT_MS)
  end
  return ids, gone
end

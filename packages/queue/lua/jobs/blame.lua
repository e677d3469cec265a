-- Which request is to blame when a worker is gone.
--
-- Input    fateOf(id, worker, quarantineAfter, kills): a request that this worker had, and how many it has killed before
-- Output   "suspect": it may have been this one, as none ran alone; or it was, not often enough
--          "innocent": another one ran alone; "quarantined": it has killed too many
--          how many it has killed by now; what happened, for its history, unless it is innocent
local function fateOf(id, worker, quarantineAfter, kills)
  local runsAlone = redis.call('HGET', alone, worker)
  if not runsAlone then
    return 'suspect', kills, 'its worker died, or lost its connection, with this request in flight'
  elseif runsAlone ~= id then
    return 'innocent', kills
  end
  redis.call('HDEL', alone, worker)
  local what = 'its worker died, or lost its connection, while it ran this request alone'
  return kills + 1 < quarantineAfter and 'suspect' or 'quarantined', kills + 1, what
end

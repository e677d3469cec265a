-- Which request may have killed a worker. Without a note in `alone` any that was in flight, so all are suspects; with one,
-- only the noted one.
--
-- Input    tried(text, noted, worker): a request that was in flight; noted: id of the one that ran alone, or false
-- Output   the request with its tries raised, and how many workers it has killed, running alone
local function tried(text, noted, worker)
  local id, tries, json = string.match(text, '^([^\n]*)\n([^\n]*)\n(.*)$')
  local attempt, kills, refusals = string.match(tries, '^(%d+):(%d+):(%d+):[01]$')
  local isToBlame = noted == id
  kills = (kills or 0) + (isToBlame and 1 or 0)
  if isToBlame or not noted then
    note(KEYS[5], id, whole(now), worker, isToBlame and 'the worker was lost while it ran alone'
      or 'the worker was lost while it was in flight')
  end
  local suspect = (isToBlame or not noted) and 1 or 0
  return id .. '\n' .. string.format('%.0f:%.0f:%.0f:%d', (attempt or 1) + 1, kills, refusals or 0, suspect) .. '\n' .. json,
    kills
end

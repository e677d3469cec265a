-- Why a worker does not join a crawl that goes on: it has other settings than those at work, or than the crawl was begun with.
--
-- Input    otherThan; refusalOf(asked, found, now), see crawl/open.lua; now: {others: how many workers are at work, silent: where there are none, how many
--          are noted, have not signed off, and count as lost, heardAt: their latest heartbeat (ms), flushes: queue and filter are emptied first, mayChange: nothing waits in lines}
-- Output   nil, or {"alike", name, value} for another setting, {"kept", how many are silent, their latest heartbeat} for a crawl that is kept, and that the worker would delete
--          at its end; {"silent", how many, the crawl's state} while the worker is to ask again: one of them may speak, and would have other settings or lose what it works on
local function refusalOf(asked, found, now)
  local alike = asked.alike or { fixed = {}, together = {} }
  local name, value = otherThan(found.alike, now.mayChange and {} or alike.fixed)
  if name then
    return { 'alike', name, value }
  end
  name, value = otherThan(found.alike, alike.together)
  if not name then
    name, value = otherThan(found.alike, alike.fixed)
  end
  if now.others > 0 then
    return name and { 'alike', name, value }
  elseif now.silent > 0 and found.persists == '1' and not asked.persists and not now.flushes then
    return { 'kept', now.silent, now.heardAt }
  elseif now.silent > 0 and asked.waits and (name or now.flushes) then
    return { 'silent', now.silent, found.state or 'idle' }
  end
end

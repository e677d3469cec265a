-- Reclaims what a lost worker had in flight on a lane.
--
-- Input    takeBack(turn, before): before, the lane's holder until now, "<worker>/<n>"
--          turn.quarantineAfter: so many workers lost to a request that ran alone
-- Output   how many were reclaimed: to the head of the line, or to quarantine
local function takeBack(turn, before)
  local flight = flightOf(turn)
  local entries = inOrder(redis.call('HGETALL', flight))
  if #entries == 0 then
    return 0
  end
  local worker = string.match(before, '^(.*)/%d+$') or before
  local noted = redis.call('HGET', KEYS[3], worker)
  redis.call('DEL', flight)
  redis.call('SET', KEYS[1] .. ':lost:' .. before, 1, 'PX', 3600000)
  moved.leased = moved.leased - #entries
  for _, entry in ipairs(entries) do
    local text, kills = marked(entry.text, noted, worker)
    if kills >= turn.quarantineAfter then
      quarantine(KEYS[4], KEYS[5], text, 'it killed ' .. kills .. ' workers, running alone', whole(now))
    else
      putBack(turn.host, entry.priority, { text })
    end
  end
  if turn.delay > 0 then
    set(turn.host, 'next', whole(math.max(tonumber(turn.host.next or 0), now + turn.delay)))
  end
  return #entries
end

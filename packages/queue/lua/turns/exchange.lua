-- All that a worker has to say about its turns at a moment, in one step: which requests have ended, with their outcome; what
-- it takes next; which turns it leaves.
--
-- Input    ARGV[2] "grows" when requests are added: then nothing is done at maxmemory, else it is done even there
--          ARGV[3…6] see turns/steps/said.lua, [7] turns; of each: host, lane, generation, holder, ms since the last start or "",
--          delay (ms) without its floor, "1" when the last taken never started, "1" for news, then floor (ms), failures, pause
--          (ms) and its reason, "" for what is no news; ended; of each ended: token, id or "" when it has no history, why it was
--          rejected or "",
--          groups; of each group: place ("end", "head", "quarantine", "doubt", or ms), host, priority, lanes, requests, these; and at
--          last: most to take, batch, ahead (ms), concurrency, "1" to leave
-- Output   {[{status, standing, taken, …} of each turn], woken, raised}; status: held, left, over, lost; or why nothing is
--          done, see turns/steps/said.lua
local isGrowing, said, replies, asked = arg() == 'grows', readSaid(), {}, {}
if said.refusal then
  return said.refusal
end
if not isGrowing then
  redis.call('HDEL', KEYS[2], '')
end
hear(said)

for t = 1, number() do
  local turn = { host = hostOf(arg()), lane = arg(), generation = arg(), owner = arg(), startedAgo = arg() }
  turn.drawn, turn.isUndone, turn.news = number(), arg() == '1', readNews()
  turn.isMine = turn.host['o' .. turn.lane] == turn.owner
  for _ = 1, number() do
    finish(turn, readEnded())
  end
  turn.most, turn.batch, turn.ahead, turn.concurrency = number(), arg(), number(), number()
  turn.leaves = arg() == '1'
  if turn.isMine then
    learn(turn)
  end
  asked[t] = turn
end

for t, turn in ipairs(asked) do
  if not turn.isMine then
    replies[t] = answeredBefore(turn)
  else
    joinLate(turn.host)
    local taken = turn.most > 0 and not turn.leaves and take(turn) or {}
    local standing = standingOf(turn)
    local isEmpty = #taken == 0 and redis.call('HLEN', flightOf(turn)) == 0
    replies[t] = { isEmpty and leave(turn, standing) or 'held', standing, taken }
  end
end
tally()
return { replies, woken, raised }

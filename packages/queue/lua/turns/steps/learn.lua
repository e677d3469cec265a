-- What a turn's worker has learned of its host: when the last request started, and news.
--
-- Input    learn(turn): startedAgo (ms) or "", drawn (the delay that the settings and chance ask for, ms), isUndone, news
-- Output   turn.delay: the host's, with its floor in it (ms)
local function learn(turn)
  local host, news = turn.host, turn.news
  if turn.isUndone then
    set(host, 'next', host.was)
  end
  if news then
    learnNews(host, news)
  end
  turn.delay = delayOf(host, turn.drawn)
  if turn.startedAgo ~= '' then
    local others = host.up ~= '1' and tonumber(host.next) or 0
    set(host, 'next', turn.delay > 0 and whole(math.max(others, now - turn.startedAgo + turn.delay)) or nil)
  elseif news and news.floor and host.next then
    set(host, 'next', whole(math.min(host.next, now + turn.delay)))
  end
end

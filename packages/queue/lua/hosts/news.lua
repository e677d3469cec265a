-- News of a host.
--
-- Input    readNews(): of ARGV, see turns/exchange.lua; nil when there are none
--          learnNews(host, news): what they do not name stays as it is, and so does a longer pause
-- Output   nothing
local function readNews()
  if arg() ~= '1' then
    return nil
  end
  local news = {}
  for _, name in ipairs({ 'floor', 'failures', 'pause', 'why' }) do
    local value = arg()
    news[name] = value ~= '' and value or nil
  end
  return news
end

-- Workers that have other lanes of the host may have requests lying ready: they are told at once.
local function pause(host, ms, why)
  local untilMs = now + ms
  if untilMs <= tonumber(host.paused or 0) then
    return
  end
  set(host, 'paused', whole(untilMs))
  set(host, 'why', why)
  redis.call('ZADD', KEYS[1] .. ':paused', whole(untilMs), host.name)
  if host.up ~= '1' then
    redis.call('PUBLISH', KEYS[1] .. ':pauses', whole(ms) .. '\n' .. host.name)
  end
end

local function learnNews(host, news)
  for _, name in ipairs({ 'floor', 'failures' }) do
    if news[name] then
      set(host, name, news[name] ~= '0' and news[name] or nil)
    end
  end
  if news.pause then
    pause(host, tonumber(news.pause), news.why)
  end
end

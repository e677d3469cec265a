-- News of a slot.
--
-- Input    readNews(): of ARGV: floor (ms), failures, pause (ms) and its reason, "" for what is no news
--          learn(record, news): what they do not name stays as it is, and so does a longer pause; not kept yet
-- Output   nothing
local function readNews()
  local news = {}
  for _, name in ipairs({ 'floor', 'failures', 'pause', 'why' }) do
    local value = arg()
    news[name] = value ~= '' and value or nil
  end
  return news
end

local function learn(record, news)
  for _, name in ipairs({ 'floor', 'failures' }) do
    record[name] = tonumber(news[name] or record[name])
  end
  local untilMs = news.pause and now + tonumber(news.pause) or 0
  if untilMs > record.paused then
    record.paused, record.why = untilMs, news.why or ''
    redis.call('ZADD', KEYS[1] .. ':paused', whole(untilMs), record.slot)
    -- Workers that have a lane of a hot slot, or had its bucket, may have requests lying ready: they are told at once.
    if unitOf(record.slot).up then
      redis.call('PUBLISH', KEYS[1] .. ':pauses', news.pause .. '\n' .. record.slot)
    end
  end
end

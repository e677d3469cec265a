-- Spends from the budgets of a run and of days, ask by ask, in one step: as `spendIn` in the core package does.
--
-- Input    KEYS[1] record, KEYS[2] spent by the run, KEYS[3 …] spent in days
--          ARGV[1] most that may be spent, as JSON: {crawl, day, host, hostDay: {pages, bytes, minutes}}
--          ARGV[2] asks as JSON: {{host, its day's KEYS, pages: 1 or 0, bytes that have come, 1 when a request for no page is to leave}, …}
--          ARGV[3] minute, counted from 1970; ARGV[4] for how long a day's are kept (s); ARGV[5] what the run's budgets are, as JSON, or ""
-- Output   of each ask: "" when its request may leave, else "<window> <kind>" that is spent
local limits, minute = cjson.decode(ARGV[1]), tonumber(ARGV[3])
local run, resumed = unpack(redis.call('HMGET', KEYS[1], 'run', 'resumed'))
local own = (run or '') .. ' ' .. (resumed or '0')
if redis.call('HGET', KEYS[2], 'run') ~= own then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[2], 'run', own)
end

local function windowsOf(host, day)
  local windows = {}
  for _, window in ipairs({ { 'crawl', KEYS[2], '' }, { 'day', day, '' }, { 'host', KEYS[2], ' ' .. host }, { 'hostDay', day, ' ' .. host } }) do
    if limits[window[1]] then
      windows[#windows + 1] = { name = window[1], key = window[2], of = window[3], limit = limits[window[1]] }
    end
  end
  return windows
end

local function spentKind(window)
  local of, limit = window.of, window.limit
  local pages, bytes, minutes, last =
    unpack(redis.call('HMGET', window.key, 'pages' .. of, 'bytes' .. of, 'minutes' .. of, 'minute' .. of))
  window.isAnother = tonumber(last or 0) < minute
  if limit.pages and tonumber(pages or 0) >= limit.pages then
    return 'pages'
  elseif limit.bytes and tonumber(bytes or 0) >= limit.bytes then
    return 'bytes'
  end
  return limit.minutes and window.isAnother and tonumber(minutes or 0) >= limit.minutes and 'minutes' or nil
end

local function answer(windows, bytes, pages, besides)
  if bytes > 0 then
    for _, window in ipairs(windows) do
      redis.call('HINCRBY', window.key, 'bytes' .. window.of, string.format('%.0f', bytes))
    end
  end
  if pages + besides == 0 then
    return ''
  end
  for _, window in ipairs(windows) do
    local kind = spentKind(window)
    if kind then
      return window.name .. ' ' .. kind
    end
  end
  for _, window in ipairs(pages == 1 and windows or {}) do
    redis.call('HINCRBY', window.key, 'pages' .. window.of, 1)
    if window.isAnother then
      redis.call('HINCRBY', window.key, 'minutes' .. window.of, 1)
      redis.call('HSET', window.key, 'minute' .. window.of, ARGV[3])
    end
  end
  return ''
end

-- For whoever looks from outside, and knows neither which day it is by the crawl's clock nor what its workers were given.
local day = ''
for n = 3, #KEYS do
  local asked = string.match(KEYS[n], '[^:]*$')
  day = asked > day and asked or day
end
local noted = redis.call('HMGET', KEYS[2], 'day', 'plan')
if day ~= '' and noted[1] ~= day then
  redis.call('HSET', KEYS[2], 'day', day)
end
if ARGV[5] ~= '' and noted[2] ~= ARGV[5] then
  redis.call('HSET', KEYS[2], 'plan', ARGV[5])
end
local answers = {}
for n, ask in ipairs(cjson.decode(ARGV[2])) do
  answers[n] = answer(windowsOf(ask[1], KEYS[ask[2]]), ask[4], ask[3], ask[5])
end
for n = 3, #KEYS do
  redis.call('EXPIRE', KEYS[n], ARGV[4])
end
return answers

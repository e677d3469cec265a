-- One stat of a worker, and the total of it.
--
-- Input    write(stats, name, stat, kind, value): value as text
--          startSession(stats): what is in the totals now was counted before the crawl was resumed
-- Output   fields <name>|<stat>, total|<stat>, before|<stat> of the hash, and the total once more as <stat>, where scrapy-redis's
--          collector looks for it
local function isPast(kind, value, total)
  local a, b = tonumber(value) or value, tonumber(total) or total
  if type(a) ~= type(b) or kind == 'last' then
    return true
  end
  return kind == 'max' and a > b or kind == 'min' and a < b
end

local function write(stats, name, stat, kind, value)
  local own, total = name .. '|' .. stat, 'total|' .. stat
  if kind == 'sum' then
    local more = tonumber(value) - (tonumber(redis.call('HGET', stats, own) or 0) or 0)
    local added = redis.pcall('HINCRBYFLOAT', stats, total, string.format('%.17g', more))
    -- Another worker has a text there.
    if type(added) == 'table' then
      redis.call('HSET', stats, total, value)
    end
  elseif isPast(kind, value, redis.call('HGET', stats, total)) then
    redis.call('HSET', stats, total, value)
  end
  redis.call('HSET', stats, own, value)
  if not string.find(stat, '|', 1, true) and stat ~= 'begunAt' and stat ~= 'runningSince' then
    redis.call('HSET', stats, stat, redis.call('HGET', stats, total))
  end
end

local function startSession(stats)
  local all = redis.call('HGETALL', stats)
  for n = 1, #all, 2 do
    local stat = string.match(all[n], '^total|(.*)$')
    if stat then
      redis.call('HSET', stats, 'before|' .. stat, all[n + 1])
    end
  end
end

-- The stats of a worker, and the totals of them.
--
-- Input    write(stats, name, changed): changed {{stat, kind: sum, max, min or last, value as text}…}, at most 500
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

-- What a worker has is written after all totals: nothing between may end the script, or a sum would be added twice.
local function write(stats, name, changed)
  local fields = {}
  for n, stat in ipairs(changed) do
    fields[2 * n - 1], fields[2 * n] = name .. '|' .. stat[1], 'total|' .. stat[1]
  end
  local before = #fields > 0 and redis.call('HMGET', stats, unpack(fields)) or {}
  local written = {}
  local function set(field, value)
    written[#written + 1] = field
    written[#written + 1] = value
  end
  for n, entry in ipairs(changed) do
    local stat, kind, value = unpack(entry)
    local own, total = before[2 * n - 1], before[2 * n]
    local added
    if kind == 'sum' then
      local more = tonumber(value) - (tonumber(own or 0) or 0)
      added = redis.pcall('HINCRBYFLOAT', stats, 'total|' .. stat, string.format('%.17g', more))
    end
    if type(added) == 'string' then
      total = added
    else
      -- No sum, or one where another worker has a text.
      total = (kind == 'sum' or isPast(kind, value, total)) and value or total
      set('total|' .. stat, total)
    end
    set(name .. '|' .. stat, value)
    if not string.find(stat, '|', 1, true) and stat ~= 'begunAt' and stat ~= 'runningSince' then
      set(stat, total)
    end
  end
  if #written > 0 then
    redis.call('HSET', stats, unpack(written))
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

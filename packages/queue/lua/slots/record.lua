-- What is known of a slot, beside its line: when it may be asked, and what was learned of it.
--
-- Input    recordOf(slot), recordsOf(slots): reads many at once
--          keep(record): as changed; one that says nothing goes
-- Output   {slot, next (ms), floor (ms), failures, paused (until, ms), why}, 0 and '' where nothing is known
-- What was learned outlives the work for a slot by a day.
local LEARNED_KEPT_MS = 86400000
local records, clearedAt = {}, nil

local function wasClearedAfter(at)
  clearedAt = clearedAt or tonumber(redis.call('HGET', KEYS[2], 'clearedAt') or 0)
  return at <= clearedAt
end

local function readRecord(slot, value)
  local record = { slot = slot, next = 0, floor = 0, failures = 0, paused = 0, why = '' }
  if value then
    local at, next, floor, failures, paused, why = string.match(value, '^(%d+) (%d+) (%d+) (%d+) (%d+) (.*)$')
    record.next, record.stored = tonumber(next), value
    -- What was learned before the crawl was cleared is forgotten, except for when the slot may be asked.
    if not wasClearedAfter(tonumber(at)) then
      record.floor, record.failures, record.paused, record.why = tonumber(floor), tonumber(failures), tonumber(paused), why
    end
  end
  records[slot] = record
  return record
end

local function recordOf(slot)
  return records[slot] or readRecord(slot, redis.call('GET', key('slot', slot)))
end

local function recordsOf(slots)
  if #slots == 0 then
    return
  end
  local keys = {}
  for i, slot in ipairs(slots) do
    keys[i] = key('slot', slot)
  end
  for i, value in ipairs(redis.call('MGET', unpack(keys))) do
    if not records[slots[i]] then
      readRecord(slots[i], value)
    end
  end
end

local function keep(record)
  local learned = (record.floor > 0 or record.failures > 0) and now + LEARNED_KEPT_MS or 0
  local untilMs = math.max(learned, record.next, record.paused)
  if untilMs > now then
    local value = string.format('%.0f %.0f %.0f %.0f %.0f ', now, record.next, record.floor, record.failures, record.paused) .. record.why
    redis.call('SET', key('slot', record.slot), value, 'PX', whole(untilMs - now + 1))
    record.stored = value
  elseif record.stored then
    redis.call('DEL', key('slot', record.slot))
    record.stored = nil
  end
end

local function mayGoAt(record)
  return math.max(record.next, record.paused)
end

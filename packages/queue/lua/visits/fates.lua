-- What becomes of a page when its entry leaves the wheel.
--
-- Input    keyAndField, timesOf, counted, sampled; of the functions: base; an entry, as readEntries has it; the record of its page, which is due
-- Output   forgetPage(base, entry, record); putOff(base, entry, record): to the span `entry.fate`; markedInALine(base, entry, record) → whether it is: under
--          its new name another page may be on the schedule, which is the same page now
local function forgetPage(base, entry, record)
  if entry.carried == '' then
    local key, field = keyAndField(base, entry.name)
    redis.call('HDEL', key, field)
    sampled(base, entry.name, nil)
  end
  counted(base, record, nil)
end

local function putOff(base, entry, record)
  local list = base .. ':due:' .. entry.fate
  redis.call('RPUSH', list, entry.text)
  redis.call('ZADD', base .. ':spans', entry.fate, entry.fate)
  if entry.carried == '' then
    local key, field = keyAndField(base, entry.name)
    local later = string.sub(record, 1, 5) .. struct.pack('>I4', entry.fate * SPAN_S) .. string.sub(record, 10)
    redis.call('HSET', key, field, later)
    counted(base, record, later)
    sampled(base, entry.name, later)
  end
end

-- Where another page waits in a line under that fingerprint, it is one that has another by now, or the same page: it keeps its request.
local function markedInALine(base, entry, record)
  local key, field = keyAndField(base, entry.now)
  local marked = string.char(string.byte(record, 1) + IN_A_LINE) .. string.sub(record, 2)
  if entry.now ~= entry.name or entry.carried ~= '' then
    local there = redis.call('HGET', key, field)
    local _, _, isInALine = timesOf(there or marked)
    forgetPage(base, entry, record)
    if not isInALine then
      return false
    end
    counted(base, there, marked)
    sampled(base, entry.now, marked)
  end
  redis.call('HSET', key, field, marked)
  return true
end

-- The visits of a crawl: records of pages, and the wheel of those that are due.
--
-- Input    <base>:of:<bucket>   hash   6 bytes of a fingerprint → record, see core's visits/visit-bytes.ts
--          <base>:due:<span>    list   entries: a page's name and how to ask again, see visits/packed-request.ts. One that begins with CARRIES has the
--                                      length of a record, the record and the entry: visits/take-out.lua. GONE alone is none
--          <base>:spans         zset   span → span: the times that have a list
--          <base>:counts        hash   pages, asked (visits in a thousand million hours)
--          <base>:sample        hash   one of 1 024 places → the page there with the smallest fingerprint: its 8 bytes and its record
--          <base>:moving        string a worker moves all pages to other fingerprints
--          keyAndField(name): 8 bytes of a fingerprint → key and field of its record; SPAN_S: seconds of a span
-- Output   timesOf(record) → visited, due, whether it is in a line; isDue(record, span); counted(base, before, record); sampled(base, name, record)
local SPAN_S, IN_A_LINE, BILLION, SAMPLE_MAX = 600, 128, 1000000000, 1024
local CARRIES, GONE = 64, 128

local function keyAndField(base, name)
  local a, b, c = string.byte(name, 1, 3)
  return base .. ':of:' .. (a * 512 + b * 2 + math.floor(c / 128)), string.sub(name, 3, 8)
end

local function timesOf(record)
  local flags, visited, due = struct.unpack('>BI4I4', record)
  return visited, due, flags >= IN_A_LINE
end

-- An entry counts only while its page's record names its time: a page that was visited since has another entry.
local function isDue(record, span)
  if not record then
    return false
  end
  local _, due, isInALine = timesOf(record)
  return not isInALine and math.floor(due / SPAN_S) == tonumber(span)
end

local function asked(record)
  if not record then
    return 0
  end
  local visited, due = timesOf(record)
  return math.floor(3600 * BILLION / math.max(1, due - visited))
end

local function counted(base, before, record)
  local pages = (record and 1 or 0) - (before and 1 or 0)
  if pages ~= 0 then
    redis.call('HINCRBY', base .. ':counts', 'pages', pages)
  end
  redis.call('HINCRBY', base .. ':counts', 'asked', string.format('%.0f', asked(record) - asked(before)))
end

-- Fingerprints are as good as random, and so is the smallest in each place: a sample in which each page is as likely as any other.
local function sampled(base, name, record)
  local a, b = string.byte(name, 7, 8)
  local place = (a * 256 + b) % SAMPLE_MAX
  local there = redis.call('HGET', base .. ':sample', place)
  if record and (not there or name <= string.sub(there, 1, 8)) then
    redis.call('HSET', base .. ':sample', place, name .. record)
  elseif not record and there and name == string.sub(there, 1, 8) then
    redis.call('HDEL', base .. ':sample', place)
  end
end

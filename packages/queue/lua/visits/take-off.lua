-- Takes entries that were read off the wheel, and marks their pages as in a line. Entries that another worker has taken meanwhile are passed over.
-- An entry that was outdated when it was read may count again, as its page was put back at that time meanwhile: nobody has made a request
-- of it, so it stays, behind the others. One of which nobody can tell the page goes to a later time.
--
-- Input    keyAndField, isDue, forgetForgotten; readEntries(): of ARGV, how many, and of each the entry and the first 8 bytes of its page's fingerprint, in order;
--          or 8 zeros and the span to which it goes
--          takeOffWheel(base, span, entries, isAsked): isAsked has the 8 bytes of each page of which a request was made
-- Output   of each page that was due until now, the 8 bytes
local function readEntries()
  local entries = {}
  for i = 1, number() do
    entries[i] = { text = arg(), name = arg() }
  end
  return entries
end

local function takeOffWheel(base, span, entries, isAsked)
  local list = base .. ':due:' .. span
  local here, taken, marked, staying = redis.call('LRANGE', list, 0, #entries - 1), 0, {}, {}
  -- Where another worker took some, what is left begins later in what was read.
  local at = 1
  while here[1] and at <= #entries and here[1] ~= entries[at].text do
    at = at + 1
  end
  while at <= #entries and here[taken + 1] and here[taken + 1] == entries[at].text do
    local text, name = entries[at].text, entries[at].name
    local key, field = keyAndField(base, name)
    local record = redis.call('HGET', key, field)
    if #name > 8 then
      local later = string.sub(name, 9)
      redis.call('RPUSH', base .. ':due:' .. later, text)
      redis.call('ZADD', base .. ':spans', later, later)
    elseif not isDue(record, span) then
      -- Its page was visited since, or is in a line.
    elseif isAsked[name] then
      redis.call('HSET', key, field, string.char(string.byte(record, 1) + IN_A_LINE) .. string.sub(record, 2))
      marked[#marked + 1] = name
    else
      staying[#staying + 1] = text
    end
    taken, at = taken + 1, at + 1
  end
  redis.call('LTRIM', list, taken, -1)
  for _, text in ipairs(staying) do
    redis.call('RPUSH', list, text)
  end
  if redis.call('EXISTS', list) == 0 then
    redis.call('ZREM', base .. ':spans', span)
    forgetForgotten(base)
  end
  return marked
end

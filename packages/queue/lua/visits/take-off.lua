-- Takes entries that were read off the wheel, and marks their pages as in a line. Entries that another worker has taken meanwhile are passed over.
-- An entry that was outdated when it was read may count again, as its page was put back at that time meanwhile: nobody has made a request
-- of it, so it stays, behind the others.
--
-- Input    keyAndField, isDue; forgetPage, putOff, markedInALine; readEntries(): of ARGV, how many, and of each in order: the entry; the name of its page,
--          8 bytes of a fingerprint; the name that it has from now on, or '' for the same; the record that the entry carries, or ''; '', 'forget', or a
--          later span to which it goes
--          takeOffWheel(base, span, entries, isAsked): isAsked has the names, as they are from now on, of which a request was made
-- Output   of each page that was due until now, its name
local function readEntries()
  local entries = {}
  for i = 1, number() do
    local text, name, now = arg(), arg(), arg()
    entries[i] = { text = text, name = name, now = now ~= '' and now or name, carried = arg(), fate = arg() }
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
    local entry = entries[at]
    local record = entry.carried ~= '' and entry.carried or redis.call('HGET', keyAndField(base, entry.name))
    if not isDue(record, span) then
      -- Its page was visited since, is in a line or was forgotten.
    elseif entry.fate == 'forget' then
      forgetPage(base, entry, record)
    elseif entry.fate ~= '' then
      putOff(base, entry, record)
    elseif not isAsked[entry.now] then
      staying[#staying + 1] = entry.text
    elseif markedInALine(base, entry, record) then
      marked[#marked + 1] = entry.now
    end
    taken, at = taken + 1, at + 1
  end
  redis.call('LTRIM', list, taken, -1)
  for _, text in ipairs(staying) do
    redis.call('RPUSH', list, text)
  end
  if redis.call('EXISTS', list) == 0 then
    redis.call('ZREM', base .. ':spans', span)
  end
  return marked
end

-- Replaces what asks for pages, at their hours: of a page that waits for its hour, each entry at its time. A page that is in a line stays as it is.
--
-- Input    keyAndField, timesOf, keepName; KEYS[1] base; ARGV[2…] names: of each short name and what it stands for; pages: of each 8 bytes of its
--          fingerprint, how to ask again
-- Output   of each page 1 when that was done
local base, asked = KEYS[1], {}
local HAS_NAME, ENTRIES_PER_READ = 8, 500

-- An entry has the name of its page after a byte of flags, see visits/packed-request.ts. One that carries a record moves with all others meanwhile.
local function isOf(entry, name)
  local flags = string.byte(entry, 1)
  return flags < CARRIES and math.floor(flags / HAS_NAME) % 2 == 1 and string.sub(entry, 2, 9) == name
end

local function replace(list, name, request)
  for from = 0, redis.call('LLEN', list), ENTRIES_PER_READ do
    for i, entry in ipairs(redis.call('LRANGE', list, from, from + ENTRIES_PER_READ - 1)) do
      if isOf(entry, name) then
        redis.call('LSET', list, from + i - 1, request)
      end
    end
  end
end

for _ = 1, number() do
  local short, text = arg(), arg()
  keepName(base, short, text)
end
for i = 1, number() do
  local name, request = arg(), arg()
  local record = redis.call('HGET', keyAndField(base, name))
  local _, due, isInALine = timesOf(record or '\0\0\0\0\0\0\0\0\0')
  asked[i] = record and not isInALine and 1 or 0
  if asked[i] == 1 then
    replace(string.format('%s:due:%.0f', base, math.floor(due / SPAN_S)), name, request)
  end
end
return asked

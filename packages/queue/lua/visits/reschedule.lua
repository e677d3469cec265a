-- Puts pages at a moment, sooner or later, in place of their hour. A page that is in a line stays there.
--
-- Input    keyAndField, timesOf, keepName, putOnWheel; KEYS[1] base; ARGV[2…] the moment (s); names: of each short name and what it stands for; pages: of
--          each 8 bytes of its fingerprint, how to ask again
-- Output   of each page 1 when it is known
local base, at = KEYS[1], number()
for _ = 1, number() do
  local short, text = arg(), arg()
  keepName(base, short, text)
end
local known = {}
for i = 1, number() do
  local name, request = arg(), arg()
  local before = redis.call('HGET', keyAndField(base, name))
  known[i] = before and 1 or 0
  local _, due, isInALine = timesOf(before or '\1\0\0\0\0\0\0\0\0')
  if before and not isInALine and due ~= at then
    local record = string.sub(before, 1, 5) .. struct.pack('>I4', at) .. string.sub(before, 10)
    putOnWheel(base, name, before, record, request)
  end
end
return known

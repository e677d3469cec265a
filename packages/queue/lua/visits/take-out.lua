-- Takes the records of pages whose fingerprints are others now from where they lie into their entries, under their new names. So no page stands in the
-- way of another one when they are put back. An entry that does not count goes: under its new name it might.
--
-- Input    keyAndField, isDue, sampled, entriesAt; ARGV[2] span; places: of each the entry with its new name; the old one, or '' where it carries its
--          record already
-- Output   how many records were taken; -1 when nothing was done, as an entry is not where it was
local base, span, taken = KEYS[1], ARGV[2], 0
local list, places = entriesAt({ 'text', 'name' })
if not list then
  return -1
end
for _, place in ipairs(places) do
  local text = place.text
  if place.name ~= '' then
    local key, field = keyAndField(base, place.name)
    local record = redis.call('HGET', key, field)
    text = string.char(GONE)
    if isDue(record, span) then
      -- First, so that a server which is full does the rest.
      redis.call('HDEL', key, field)
      sampled(base, place.name, nil)
      text = string.char(CARRIES, #record) .. record .. place.text
      taken = taken + 1
    end
  end
  redis.call('LSET', list, place.at, text)
end
return taken

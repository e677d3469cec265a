-- Puts records that are in their entries where their pages are found by their fingerprints. Another page that has the same one stays, and this one goes:
-- they are one page now. One that stands there in a line may have another fingerprint: this one waits for its hour as it is.
--
-- Input    keyAndField, timesOf, counted, sampled, entriesAt; ARGV[2] span; places: of each the entry without the record, the page's name, the record
-- Output   1; -1 when nothing was done, as an entry is not where it was
local base = KEYS[1]
local list, places = entriesAt({ 'text', 'name', 'record' })
if not list then
  return -1
end
for _, place in ipairs(places) do
  local key, field = keyAndField(base, place.name)
  local there = redis.call('HGET', key, field)
  local _, _, isInALine = timesOf(there or place.record)
  if not there then
    redis.call('HSET', key, field, place.record)
    sampled(base, place.name, place.record)
    redis.call('LSET', list, place.at, place.text)
  elseif not isInALine then
    redis.call('LSET', list, place.at, string.char(GONE))
    counted(base, place.record, nil)
  end
end
return 1

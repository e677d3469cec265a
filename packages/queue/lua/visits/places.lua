-- Entries of the wheel at their places, as a worker has read them.
--
-- Input    KEYS[1] base; ARGV[2…] span; places: of each how far from the front the entry is, in order, the entry, and what `more` names
-- Output   entriesAt(more) → list, places; nil when an entry is not where it was, as some have been taken off the front
local function entriesAt(more)
  local list, places = KEYS[1] .. ':due:' .. arg(), {}
  for i = 1, number() do
    places[i] = { at = number(), old = arg() }
    for _, name in ipairs(more) do
      places[i][name] = arg()
    end
  end
  local from = places[1].at
  local here = redis.call('LRANGE', list, from, places[#places].at)
  for _, place in ipairs(places) do
    if here[place.at - from + 1] ~= place.old then
      return nil
    end
  end
  return list, places
end

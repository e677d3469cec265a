-- Many bits of a string with one BITFIELD: half the time of a SETBIT for each. unpack() fails near 8 000 values.
--
-- Input    see bloom/store.lua; isFresh[i] for those members whose bits are to be set
-- Output   setBits(group, key, isFresh); counts in `set` those that were not set before
local function setBits(group, key, isFresh)
  local offsets, k, call, n = group.offsets, group.k, { 'BITFIELD', key }, 2
  local function send()
    for _, bit in ipairs(n > 2 and redis.call(unpack(call, 1, n)) or {}) do
      set = set + 1 - bit
    end
    n = 2
  end
  for entry = 1, #offsets / k do
    if isFresh[group.who and group.who[entry] or entry] then
      if n + 4 * k > 7600 then
        send()
      end
      for i = (entry - 1) * k + 1, entry * k do
        call[n + 1], call[n + 2], call[n + 3], call[n + 4] = 'SET', 'u1', offsets[i], '1'
        n = n + 4
      end
    end
  end
  send()
end

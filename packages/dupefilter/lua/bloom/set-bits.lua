-- The bits of a member with one BITFIELD, which is quicker than a SETBIT for each, and than one BITFIELD for all members: Redis
-- would make an object of each of its thousands of arguments.
--
-- Input    see bloom/store.lua; isFresh[i] for those members whose bits are to be set
-- Output   setBits(group, key, isFresh); counts in `set` those that were not set before
local function setBits(group, key, isFresh)
  local offsets, k, call = group.offsets, group.k, { 'BITFIELD', key }
  for n = 1, k do
    call[4 * n - 1], call[4 * n], call[4 * n + 1], call[4 * n + 2] = 'SET', 'u1', '', '1'
  end
  for entry = 1, #offsets / k do
    if isFresh[group.who and group.who[entry] or entry] then
      for n = 1, k do
        call[4 * n + 1] = offsets[(entry - 1) * k + n]
      end
      for _, bit in ipairs(redis.call(unpack(call))) do
        set = set + 1 - bit
      end
    end
  end
end

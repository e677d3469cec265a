-- Puts members into leaves: bits, counts, and marks where the leaf may have to be split.
--
-- Input    see splittable/leaves.lua; group.marks, the index in KEYS of the string that has the leaf's members, one behind
--          the other; header.bits and header.hashes of a leaf
-- Output   putIn(isFresh, members) → how many more were lost, by theory, than these that are put in
--          ripe, the leaves that have just come to header.ripe, or to header.room where they can be split no further
local ripe = {}

local function errorAt(bitsSet)
  return math.pow(bitsSet / header.bits, header.hashes)
end

local function countForLeaf(group, count, newlySet)
  local had, hadSet = countsOf(group.leaf)
  redis.call('HSET', leavesKey, group.leaf, string.format('%.0f %.0f', had + count, hadSet + newlySet))
  local limit = group.splits and header.ripe or header.room
  ripe[#ripe + 1] = had < limit and had + count >= limit and group.leaf or nil
  local passed = (1 - errorAt(hadSet)) * (group.under and 1 - errorAt(select(2, countsOf(group.under))) or 1)
  return count * (1 / math.max(passed, 1e-6) - 1)
end

local function putIn(isFresh, members)
  local missed = 0
  for g, group in ipairs(header.groups) do
    local mine, before = {}, set
    for _, i in ipairs(group.top and group.who or {}) do
      mine[#mine + 1] = isFresh[i] and members[i] or nil
    end
    if #mine > 0 then
      setBits(group, KEYS[5 + g], isFresh)
      missed = missed + countForLeaf(group, #mine, set - before)
      if group.marks then
        redis.call('APPEND', KEYS[group.marks], table.concat(mine))
      end
    end
  end
  return missed
end

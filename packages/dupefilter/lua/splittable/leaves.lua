-- The leaves of a splittable filter: how full they are, and whether the tree is still as the asker knows it.
--
-- Input    see bloom/store.lua: a group is a leaf's, with group.leaf, and group.splits where it can be split. A frozen one
--          is not `top`. header.tree, the one that the asker knows, '' for none; header.room, the most that a leaf may hold
--          KEYS[6 + #header.groups] leaves: hash leaf → "<inserted> <set>"; KEYS[5] record: has tree
--          KEYS[#KEYS] tree: hash node → "inner" | "frozen …"; a leaf has no field
-- Output   countsOf(leaf); probe() of bloom/store.lua, which refuses by WEBLOOM_MOVED when what is asked about is elsewhere by
--          now, and by WEBLOOM_FULL <leaf>,… when these leaves must be split first
local leavesKey, probeBits = KEYS[6 + #header.groups], probe

local function countsOf(leaf)
  local inserted, set = string.match(redis.call('HGET', leavesKey, leaf) or '0 0', '^(%d+) (%d+)$')
  return tonumber(inserted), tonumber(set)
end

local function probe()
  local names, full = {}, {}
  for g, group in ipairs(header.groups) do
    names[g] = group.leaf
    full[#full + 1] = group.splits and countsOf(group.leaf) >= header.room and group.leaf or nil
  end
  local isOther = header.tree ~= '' and redis.call('HGET', KEYS[5], 'tree') ~= header.tree
  for g, state in ipairs(#names > 0 and redis.call('HMGET', KEYS[#KEYS], unpack(names)) or {}) do
    local wanted = header.groups[g].top and 'leaf' or 'frozen'
    isOther = isOther or string.match(state or 'leaf', '^%a+') ~= wanted
  end
  if isOther then
    return nil, 'WEBLOOM_MOVED the tree has changed'
  elseif #full > 0 then
    return nil, 'WEBLOOM_FULL ' .. table.concat(full, ',')
  end
  return probeBits()
end

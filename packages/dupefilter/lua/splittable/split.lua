-- Does a part of the splitting of a leaf: freezes it, or puts some of its members into its children.
--
-- Input    KEYS as for redis/ask.lua, last tree: hash node → "inner" | "frozen <done> <until, ms> <holder>"
--          header {node, parent?, holder, leaseMs, room, from, count, groups of both children}; ARGV[2…] its members from `from` on
-- Output   {"leaf"} it stays: it has room, or its parent is not split yet; {"inner"} it is split; {"held"} another worker splits it;
--          {"mine", done, ripe…} so many of its members are in its children, of which those have reached their limit
local tree, state = KEYS[#KEYS], redis.call('HGET', KEYS[#KEYS], header.node)
local done, heldUntil, holder = string.match(state or '', '^frozen (%d+) (%d+) (.*)$')
if state == 'inner' then
  return { 'inner' }
elseif state and holder ~= header.holder and tonumber(heldUntil) > now then
  return { 'held' }
elseif not state then
  local isWhole = not header.parent or redis.call('HGET', tree, header.parent) == 'inner'
  if not isWhole or countsOf(header.node) < header.ripe then
    return { 'leaf' }
  end
  -- Left by a worker that asked while the filter was cleared.
  for g, group in ipairs(header.groups) do
    redis.call('HDEL', leavesKey, group.leaf)
    redis.call('UNLINK', KEYS[5 + g], group.marks and KEYS[group.marks] or KEYS[5 + g])
  end
  redis.call('HSETNX', KEYS[5], 'tree', time[1] .. '.' .. time[2])
end
done = tonumber(done or 0)
-- Otherwise the command was sent twice, or another worker went on with it.
if done == header.from and header.count > 0 then
  local all = {}
  for i = 1, header.count do
    all[i] = true
  end
  for g, group in ipairs(header.groups) do
    group.offsets = cjson.decode(ARGV[header.count + 1 + g])
  end
  putIn(all, { unpack(ARGV, 2, header.count + 1) })
  done = done + header.count
end
redis.call('HSET', tree, header.node, string.format('frozen %.0f %.0f ', done, now + header.leaseMs) .. header.holder)
return { 'mine', done, unpack(ripe) }

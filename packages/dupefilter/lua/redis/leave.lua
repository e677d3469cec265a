-- A crawl is over: its askers are deleted, with what they hold.
--
-- Input    ARGV[1] {owners: [name…], …store's}
-- Output   nothing. Members that an asker asked about and that were never queued are un-marked; queued ones are seen for good
for _, owner in ipairs(header.owners) do
  local kind, _, _, bound = stateOf(owner)
  if kind == 'u' then
    unmarkWhere(owner, function(_, held)
      return not isBefore(held, bound)
    end)
  end
  for _, member in ipairs(redis.call('LRANGE', membersOf(owner), 0, -1)) do
    local held = redis.call('HGET', KEYS[2], member)
    if held and string.match(held, '^%d+:(.*)\n') == owner then
      redis.call('HDEL', KEYS[2], member)
    end
  end
  redis.call('DEL', membersOf(owner))
  redis.call('HDEL', KEYS[3], owner)
end

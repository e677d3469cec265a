-- What ends in one shard and goes on in another.
--
-- Input    place, BRINGS, see buckets/steps/ended.lua: also of groups whose place is "><shard>\n<asker>" for what a request has brought, or
--          "^<shard>\n<asker>" for the request itself
-- Output   nothing
local placeHere = place
place = function(group, unique, refusal)
  local shard, asker = string.match(group.place, '^[>^]([^\n]*)\n(.*)$')
  if shard then
    send(group.place, shard, asker, group.bucket, group.slot, group.priority, group.texts)
  else
    placeHere(group, unique, refusal)
  end
end
setmetatable(BRINGS, {
  __index = function(_, of)
    return string.byte(of) == 62
  end,
})

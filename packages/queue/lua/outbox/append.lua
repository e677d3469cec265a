-- What goes on in another shard goes to the outbox, whatever script brings it.
--
-- Input    append, see slots/ready.lua: also with a bucket of another shard, "><shard>\n<asker>\n<bucket>"
-- Output   nothing
local appendHere = append
append = function(bucket, slot, priority, texts)
  local shard, asker, there = string.match(bucket, '^>([^\n]*)\n(.*)\n([^\n]*)$')
  if shard then
    send(shard, asker, there, slot, priority, texts)
  else
    appendHere(bucket, slot, priority, texts)
  end
end

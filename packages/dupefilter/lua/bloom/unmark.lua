-- Input    see bloom/store.lua
-- Output   unmark(member): bits cannot be taken back; a note that gives the member to nobody has it answered "new" to
--          whoever asks next
local function unmark(member)
  redis.call('HSET', KEYS[2], member, '')
end

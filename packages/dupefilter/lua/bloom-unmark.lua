-- Input    see bloom-store.lua
-- Output   unmark(member): bits cannot be taken back; a note that gives the member to nobody has it answered "new" to
--          whoever asks next. extra() → {inserted, set, lost} of the newest layer, told with each answer
local function unmark(member)
  redis.call('HSET', KEYS[2], member, '')
end

local function extra()
  return { tostring(inserted), tostring(set), tostring(lost) }
end

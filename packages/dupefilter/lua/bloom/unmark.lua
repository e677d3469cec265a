-- Input    see bloom/store.lua
-- Output   unmark(member): a Bloom filter cannot clear bits, so an empty note has the member answered "new" to the next
--          asker
local function unmark(member)
  redis.call('HSET', KEYS[2], member, '')
end

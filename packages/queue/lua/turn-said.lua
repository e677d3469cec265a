-- Commands of a worker are numbered, and of each worker its latest is noted. A Redis that has come back with an older state
-- does not know a number that it had answered: what was built on that answer must not be done.
--
-- Input    readSaid(): of ARGV: worker, number of this command, the highest whose answer the worker has
--          hear(said): as the first write of a command; Redis refuses it at its maxmemory
-- Output   readSaid() → said; said.isOlder: nothing may be done, and said.heard is what Redis knows of
local function readSaid()
  local said = { worker = arg(), number = number() }
  local answered = number()
  said.heard = tonumber(redis.call('HGET', KEYS[1] .. ':heard', said.worker) or 0)
  said.isOlder = said.heard < answered
  return said
end

local function hear(said)
  redis.call('HSET', KEYS[1] .. ':heard', said.worker, whole(math.max(said.heard, said.number)))
end

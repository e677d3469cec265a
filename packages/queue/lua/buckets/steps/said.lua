-- Commands of a worker are numbered, and of each worker its latest is noted. A Redis that has come back with an older state
-- does not know a number that it had answered: what was built on that answer must not be done. Nor must anything be done for
-- a run that is over: `webloom clear` forgets the numbers, too.
--
-- Input    readSaid(): of ARGV: worker, number of this command, the highest whose answer the worker has, its run or "" for
--          one that knows of none
--          hear(said): as the first write of a command; Redis refuses it at its maxmemory
-- Output   readSaid() → said; said.run; said.done: what is done by now, false for a run that an
--          earlier release began; said.isNew: it was not done before, as far as is known; said.refusal: nothing may be done, and this is the answer: -2 for a run that has finished, was
--          cleared or is followed by another, else the number that Redis knows of. caller, see slots/wake.lua
local function readSaid()
  local said = { worker = arg(), number = number() }
  local answered = number()
  local run, done = unpack(redis.call('HMGET', KEYS[7], 'run', 'done'))
  said.run, said.done = arg(), done
  caller = said.worker
  said.heard = tonumber(redis.call('HGET', KEYS[1] .. ':heard', said.worker) or 0)
  -- Of a worker that Redis knows nothing of, all may have been forgotten.
  said.isNew = said.heard > 0 and said.heard < said.number
  if said.run ~= '' and run ~= said.run then
    said.refusal = -2
  elseif said.heard < answered then
    -- Whoever has ended the crawl has emptied it, and forgot the numbers, too.
    said.refusal = redis.call('HGET', KEYS[7], 'state') == 'finished' and -2 or said.heard
  end
  return said
end

local function hear(said)
  redis.call('HSET', KEYS[1] .. ':heard', said.worker, whole(math.max(said.heard, said.number)))
  -- For a crawl to which nobody comes who sweeps, as after an import that was killed.
  if said.heard == 0 then
    redis.call('PEXPIRE', KEYS[1] .. ':heard', 86400000)
  end
end

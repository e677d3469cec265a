-- Commands of a worker are numbered, and of each worker its latest is noted. A Redis that has come back with an older state
-- does not know a number that it had answered: what was built on that answer must not be done. Nor must anything be done for
-- a run that is over: `webloom clear` forgets the numbers, too.
--
-- Input    readCommand(): of ARGV: worker, number of this command, the highest whose answer the worker has, its run or "" for
--          one that knows of none
--          heardOf(worker): the latest number noted of it, 0 for none
--          hear(command): notes the number. Redis refuses it at its maxmemory, where it is the first write
-- Output   readCommand() → command; command.run; command.done: what is done by now, false for a run that an
--          earlier release began; command.isNew: it was not done before, as far as is known; command.refusal: nothing may be done, and this is the answer: -2 for a run that has finished, was
--          cleared or is followed by another, else the number that Redis knows of. caller, see slots/wake.lua
local function heardOf(worker)
  return tonumber(redis.call('HGET', KEYS[1] .. ':heard', worker) or 0)
end

local function readCommand()
  local command = { worker = arg(), number = number() }
  local answered = number()
  local run, done = unpack(redis.call('HMGET', KEYS[7], 'run', 'done'))
  command.run, command.done = arg(), done
  caller = command.worker
  command.heard = heardOf(command.worker)
  -- Of a worker that Redis knows nothing of, all may have been forgotten.
  command.isNew = command.heard > 0 and command.heard < command.number
  if command.run ~= '' and run ~= command.run then
    command.refusal = -2
  elseif command.heard < answered then
    -- Whoever has ended the crawl has emptied it, and forgot the numbers, too.
    command.refusal = redis.call('HGET', KEYS[7], 'state') == 'finished' and -2 or command.heard
  end
  return command
end

local function hear(command)
  redis.call('HSET', KEYS[1] .. ':heard', command.worker, whole(math.max(command.heard, command.number)))
  -- For a crawl to which nobody comes who sweeps, as after an import that was killed.
  if command.heard == 0 then
    redis.call('PEXPIRE', KEYS[1] .. ':heard', 86400000)
  end
end

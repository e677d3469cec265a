-- A shard that was noted to have nothing (quiet, see outbox/rests.lua), or nothing for others (still, see outbox/state.lua), has something again: all workers are told
-- in the step that brings it, as whoever brings it may be killed behind that.
--
-- Input    tally; KEYS[1] <frontier>:rests, a channel; KEYS[2] quiet, still: absent when that is not so
-- Output   stir(flag)
local function stir(flag)
  if redis.call('HDEL', KEYS[2], flag) == 1 then
    redis.call('PUBLISH', KEYS[1] .. ':rests', flag)
  end
end

local tallyHere = tally
tally = function()
  tallyHere()
  if moved.waiting > 0 or moved.delayed > 0 or moved.leased > 0 then
    stir('quiet')
  end
end

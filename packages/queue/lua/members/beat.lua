-- A worker's heartbeat, answered with what the crawl wants of it.
--
-- Input    presentBesides, otherThan, othersHave, noteUnlike; KEYS[1] record, KEYS[2] workers, KEYS[3] cleared, KEYS[4] doubts, see doubts.lua, KEYS[5] host lists
--          ARGV[1] worker, ARGV[2] run, ARGV[3] its entry as JSON, without `at`, ARGV[4] to be noted anew {compared: the settings in which it is to be like
--          the others, told: those that it tells, each [[name, value], …], lostMs}: it is not while the record notes other ones to compare; or ""
--          ARGV[5] ms without a heartbeat of any worker after which it was Redis that was away
--          ARGV[6] what stands out among its hosts as JSON, without `at`; "" leaves what it told before
--          ARGV[7] how often one of all workers keeps what the crawl does, ms; "" when this one does not
-- Output   {1 when it is noted, now, run, state, paused, stopReason, runningSince, 1 when the worker's run was ended from
--          outside: `webloom clear`, or it was over and another was begun, 1 when start() has ended, 1 when links are in
--          doubt, 1 when ARGV[6] is written, 1 when this worker is to keep what the crawl does now, number of the latest order for a host,
--          and for a worker that would be noted anew which other settings those at work have (see alike.lua), then name and value of what it is not to have
--          otherwise}; "" for what is not there
local told = redis.call('HMGET', KEYS[1], 'run', 'state', 'paused', 'stopReason', 'runningSince', 'beatAt', 'startEnded', 'sampledAt', 'orders')
local isTold, samples = false, false
local isNoted, have, other, value = redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1, nil, nil, nil
if not isNoted and ARGV[4] ~= '' and told[1] == ARGV[2] then
  local asked, noted = cjson.decode(ARGV[4]), redis.call('HMGET', KEYS[1], 'alike', 'unlike')
  other, value = otherThan(noted[1], asked.compared)
  isNoted = not other
  if isNoted then
    local _, present = presentBesides(ARGV[1], now - asked.lostMs)
    local _, others = presentBesides(ARGV[1], 0)
    have = othersHave(noted[1], noted[2], present, asked.told)
    noteUnlike(KEYS[1], noted[2], others, ARGV[1], asked.told)
  end
end
if told[1] == ARGV[2] then
  if isNoted then
    redis.call('HSET', KEYS[2], ARGV[1], '{"at":' .. nowText .. ',' .. string.sub(ARGV[3], 2))
    isTold = ARGV[6] ~= ''
  end
  if isTold then
    redis.call('HSET', KEYS[5], ARGV[1], '{"at":' .. nowText .. ',' .. string.sub(ARGV[6], 2))
  end
  redis.call('HSET', KEYS[1], 'beatAt', nowText)
  if now - tonumber(told[6] or nowText) > tonumber(ARGV[5]) then
    redis.call('HSET', KEYS[1], 'silentUntil', nowText)
  end
  samples = ARGV[7] ~= '' and math.abs(now - tonumber(told[8] or 0)) >= tonumber(ARGV[7])
  if samples then
    redis.call('HSET', KEYS[1], 'sampledAt', nowText)
  end
end
local isOver = false
if told[1] ~= ARGV[2] then
  local before = redis.call('HGET', KEYS[1], 'runsBefore') or ''
  isOver = redis.call('GET', KEYS[3]) == ARGV[2] or string.find(before, ARGV[2], 1, true) ~= nil
end
return {
  isNoted and 1 or 0, nowText, told[1] or '', told[2] or '', told[3] or '', told[4] or '', told[5] or '', isOver and 1 or 0,
  told[7] == '1' and 1 or 0, redis.call('EXISTS', KEYS[4]), isTold and 1 or 0,
  samples and 1 or 0, told[9] or '', have or '', other or '', value or '',
}

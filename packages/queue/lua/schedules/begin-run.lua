-- Begins a run because its hour has come, or goes on with one that was stopped: once for each fire. Workers then join it.
--
-- Input    todoOf, dropFailures, foundOf, begin; KEYS[1] record, KEYS[2] orders for hosts, KEYS[3] failures
--          ARGV[1] {run: id for a new run, format, release, persists, flushes, shards, mode: as a worker of the crawl would ask, fire: its id, without a space}
--          ARGV[2] what workers must know who join the run, as JSON
-- Output   {"begun", "resumed", "going" when a run goes on already; the run}; of a fire that was here before, what was said then, or
--          {"done", the run it is now} where that is not known
--
-- `fires` of the record has each fire with what was said, the latest first: "<fire> =<outcome>=<run> ". An earlier release noted only fires.
local FIRES_CHARS = 2048

local asked = cjson.decode(ARGV[1])
local record = KEYS[1]
local found = foundOf(record)
local fires = found.fires or ''
-- Between spaces: a run's id may end as a fire does.
local _, at = string.find(' ' .. fires, ' ' .. asked.fire .. ' ', 1, true)
if at then
  local outcome, run = string.match(fires, '^=(%a+)=(%S*) ', at)
  return { outcome or 'done', run or found.run or '' }
end
local outcome = 'going'
if not found.state or found.state == 'finished' or found.emptied then
  outcome = 'begun'
  begin(record, KEYS[3], asked, found)
  redis.call('DEL', KEYS[2])
elseif found.state ~= 'running' then
  outcome = 'resumed'
  redis.call('HSET', record, 'state', 'running', 'runningSince', nowText)
  redis.call('HINCRBY', record, 'resumed', 1)
  redis.call('HDEL', record, 'stopReason', 'finishReason', 'endedAt', 'paused')
end
local run = redis.call('HGET', record, 'run')
local said = asked.fire .. ' =' .. outcome .. '=' .. run .. ' '
redis.call('HSET', record, 'fires', string.sub(said .. fires, 1, FIRES_CHARS))
if outcome ~= 'going' then
  redis.call('HSET', record, 'scheduled', ARGV[2])
end
return { outcome, run }

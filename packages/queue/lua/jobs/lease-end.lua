-- Takes a lease from its worker, if it is still this worker's: the token is the fence against late commits. A lock that has
-- expired, while no worker has taken the job, is no loss: Redis was away.
--
-- Input    ARGV[1] job id, ARGV[2] token, ARGV[3] worker, ARGV[4] "1" when it ran alone
-- Output   endLease() → "ended"; "again" when this token has ended its lease before: the command was sent twice;
--          "lost" when another has it. Only after "ended" there is something to do.
local REMEMBERED_MS = 30000
-- More are never needed; BullMQ's own scripts write some with each job that is taken.
local EVENTS_MAX = 100

local function endLease()
  local job = jobKey(ARGV[1])
  local holder = redis.call('GET', job .. ':lock')
  local isOurs = holder == ARGV[2] or (not holder and redis.call('HGET', job, 'pb') == ARGV[3])
  if not isOurs or redis.call('LREM', active, -1, ARGV[1]) == 0 then
    return redis.call('GET', job .. ':ended') == ARGV[2] and 'again' or 'lost'
  end
  redis.call('DEL', job .. ':lock')
  redis.call('SET', job .. ':ended', ARGV[2], 'PX', REMEMBERED_MS)
  redis.call('XTRIM', events, 'MAXLEN', '~', EVENTS_MAX)
  if ARGV[4] == '1' then
    redis.call('HDEL', alone, ARGV[3])
  end
  return 'ended'
end

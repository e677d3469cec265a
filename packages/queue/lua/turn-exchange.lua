-- All that a worker has to say about its turns at a moment, in one step: what has ended, with what came of it; what it
-- takes next; which turns it leaves.
--
-- Input    ARGV[2] "grows" when requests are added: then nothing is done at maxmemory, else it is done even there
--          ARGV[3] turns; of each: host, lane, owner, ms since the last start or "", delay (ms), "1" when the last taken
--          never started, floor (ms) or "", ended; of each ended: token, id or "" when it has no history, why it was refused or
--          "", groups; of each group: place ("end", "head", "quarantine", or ms), host, priority, lanes, requests, these
--          and at last: most to take, batch, ahead (ms), concurrency, "1" to leave
-- Output   {[{status, standing, taken, …} of each turn], woken, raised}; status: held, left, over, lost
local isGrowing, replies, asked = arg() == 'grows', {}, {}
redis.call(unpack(isGrowing and { 'HSET', KEYS[2], 'grownAt', whole(now) } or { 'HDEL', KEYS[2], '' }))

local function readEnded()
  local ended = { token = arg(), id = arg(), refusal = arg(), groups = {} }
  for g = 1, number() do
    local group = { place = arg(), host = arg(), priority = arg(), lanes = number(), texts = {} }
    for n = 1, number() do
      group.texts[n] = arg()
    end
    ended.groups[g] = group
  end
  return ended
end

local function place(group, unique, refusal)
  if group.place == 'quarantine' then
    quarantine(KEYS[4], KEYS[5], group.texts[1], refusal, whole(now))
  elseif group.place == 'end' then
    append(hostOf(group.host), group.priority, group.lanes, group.texts)
  elseif group.place == 'head' then
    putBack(hostOf(group.host), group.priority, group.texts)
  else
    delay(hostOf(group.host), group.priority, tonumber(group.place), unique, group.texts[1])
  end
end

local function finish(turn, ended)
  if not turn.isMine or redis.call('HDEL', flightOf(turn), ended.token) == 0 then
    return
  end
  moved.leased = moved.leased - 1
  if ended.refusal ~= '' then
    note(KEYS[5], ended.id, whole(now), string.match(turn.owner, '^(.*)/%d+$'), ended.refusal)
  elseif ended.id ~= '' then
    redis.call('HDEL', KEYS[5], ended.id)
  end
  for _, group in ipairs(ended.groups) do
    place(group, turn.owner .. '/' .. ended.token, ended.refusal)
  end
end

local function pace(turn)
  local host = turn.host
  if turn.isUndone then
    set(host, 'next', host.was)
  end
  if turn.floor ~= '' then
    set(host, 'floor', turn.floor ~= '0' and turn.floor or nil)
  end
  if turn.startedAgo ~= '' then
    set(host, 'next', turn.delay > 0 and whole(now - turn.startedAgo + turn.delay) or nil)
  end
end

for t = 1, number() do
  local turn = { host = hostOf(arg()), lane = arg(), owner = arg(), startedAgo = arg(), delay = number() }
  turn.isUndone, turn.floor, turn.isMine = arg() == '1', arg(), turn.host['o' .. turn.lane] == turn.owner
  for _ = 1, number() do
    finish(turn, readEnded())
  end
  turn.most, turn.batch, turn.ahead, turn.concurrency = number(), arg(), number(), number()
  turn.leaves = arg() == '1'
  if turn.isMine then
    pace(turn)
  end
  asked[t] = turn
end

local function leave(turn, standing)
  local host, _, head, late = turn.host, unpack(standing)
  if head == '' and (late == '' or host.up ~= '1') then
    close(host, turn.lane)
    return 'over'
  end
  if not turn.leaves then
    return 'held'
  end
  set(host, 'o' .. turn.lane, nil)
  set(host, 'urgency', head ~= '' and head ~= '0' and head or nil)
  set(host, 'asleep', head == '' and whole(now + math.max(late, standing[1])) or nil)
  return 'left'
end

for t, turn in ipairs(asked) do
  if not turn.isMine then
    replies[t] = { redis.call('EXISTS', KEYS[1] .. ':lost:' .. turn.owner) == 1 and 'lost' or 'over' }
  else
    joinLate(turn.host)
    local taken = turn.leaves and {} or take(turn)
    local standing = standingOf(turn)
    local isEmpty = #taken == 0 and redis.call('HLEN', flightOf(turn)) == 0
    replies[t] = { isEmpty and leave(turn, standing) or 'held', standing, taken }
  end
end
tally()
return { replies, woken, raised }

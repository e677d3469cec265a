-- What was in flight and is over.
--
-- Input    readTokens(), readEnded(): of ARGV, see buckets/exchange.lua
--          keepName, keepVisit: where the crawl comes back to its pages
--          finishAll(turn, tokens): those that are done for good, and of which nothing else is to be said
--          finish(turn, ended)
--          sendReady: of groups whose place is ">": their bucket is another shard, their requests are entries for it, see outbox/send.lua
--          Both do nothing with what was over before; the command may be sent twice
-- Output   trimmed: how many failures were removed from the ledger, as it is full; done: how many requests are done for good, with what
--          they brought in its place: what stays in the queue or goes to quarantine is not
local trimmed, done = 0, 0
local BRINGS = { ['end'] = true, ['>'] = true, doubt = true, failed = true, visit = true }

local function readTokens()
  local tokens = {}
  for n = 1, number() do
    tokens[n] = arg()
  end
  return tokens
end

local function readEnded()
  local ended = { token = arg(), id = arg(), refusal = arg(), hot = arg(), groups = {} }
  for g = 1, number() do
    local group = { place = arg(), bucket = arg(), texts = {} }
    if group.place ~= '>' then
      group.slot, group.priority = arg(), arg()
    end
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
  elseif group.place == 'end' or group.place == 'again' then
    append(group.bucket, group.slot, group.priority, group.texts)
  elseif group.place == '>' then
    sendReady(group.bucket, group.texts)
  elseif group.place == 'doubt' then
    moved.delayed = moved.delayed + setAside(KEYS[6], group.texts)
  elseif group.place == 'head' then
    prepend(group.bucket, group.slot, group.priority, group.texts)
  elseif group.place == 'failed' then
    trimmed = trimmed + keepFailure(KEYS[6], group.texts[1], whole(now))
  elseif group.place == 'visit' then
    local base, texts = KEYS[6] .. 'visits', group.texts
    for n = 4, #texts, 2 do
      keepName(base, texts[n], texts[n + 1])
    end
    keepVisit(base, texts[1], texts[2], texts[3])
  else
    delay(group.bucket, group.slot, group.priority, tonumber(group.place), unique, group.texts[1])
  end
end

local function finishAll(turn, tokens)
  if turn.isMine and #tokens > 0 then
    local over = redis.call('HDEL', flightOf(turn), unpack(tokens))
    moved.leased, done = moved.leased - over, done + over
  end
end

local function finish(turn, ended)
  if not turn.isMine or redis.call('HDEL', flightOf(turn), ended.token) == 0 then
    return
  end
  moved.leased = moved.leased - 1
  if ended.hot ~= '' then
    unmix(ended.hot)
  end
  if ended.refusal ~= '' then
    note(KEYS[5], ended.id, whole(now), string.match(turn.owner, '^(.*)/%d+$'), ended.refusal)
  elseif ended.id ~= '' then
    redis.call('HDEL', KEYS[5], ended.id)
  end
  local isDone = true
  for _, group in ipairs(ended.groups) do
    place(group, turn.owner .. '/' .. ended.token, ended.refusal)
    isDone = isDone and BRINGS[group.place]
  end
  done = done + (isDone and 1 or 0)
end

-- Takes what goes next.
--
-- Input    take(turn): host, lane, most, batch, delay, ahead, concurrency
--          batch: token of this take; asked again for it, after a lost reply, the same requests are answered
--          delay: the host's (ms); ahead: takes even when the host may be asked only in so many ms
--          concurrency: most of the host in flight, in all lanes together; 0: no bound
-- Output   "<priority>\n<request>", … ; token <batch>.<n> is the nth's
local function flightOf(turn, lane)
  return key('flight', turn.host.name, lane or turn.lane)
end

local function roomIn(turn)
  local up, own = tonumber(turn.host.up or 1), redis.call('HLEN', flightOf(turn))
  if up == 1 then
    return turn.concurrency - own
  end
  local all = 0
  for lane = 0, LANES_MAX - 1 do
    if turn.host['g' .. lane] then
      all = all + redis.call('HLEN', flightOf(turn, lane))
    end
  end
  return math.min(turn.concurrency - all, math.ceil(turn.concurrency / up) - own)
end

local function mayTake(turn)
  local most, host = turn.most, turn.host
  if turn.concurrency > 0 and most > 0 then
    most = math.min(most, roomIn(turn))
  end
  if turn.delay == 0 or most <= 0 then
    return most
  end
  return tonumber(host.next or 0) - now <= turn.ahead and headOf(host) and 1 or 0
end

local function popped(turn, most)
  local texts, pop = {}, order == 'lifo' and 'RPOP' or 'LPOP'
  while #texts < most do
    local priority = headOf(turn.host)
    if not priority then
      break
    end
    local line = key('line', turn.host.name, priority)
    for _, text in ipairs(redis.call(pop, line, most - #texts) or {}) do
      texts[#texts + 1] = priority .. '\n' .. text
    end
    if priority ~= '0' and redis.call('EXISTS', line) == 0 then
      redis.call('ZREM', key('prios', turn.host.name), priority)
    end
  end
  return texts
end

local function take(turn)
  local flight, texts, host = flightOf(turn), {}, turn.host
  for n = 1, turn.most do
    texts[n] = redis.call('HGET', flight, turn.batch .. '.' .. n) or nil
    if not texts[n] then
      break
    end
  end
  if #texts > 0 then
    return texts
  end
  texts = popped(turn, mayTake(turn))
  for n, text in ipairs(texts) do
    redis.call('HSET', flight, turn.batch .. '.' .. n, text)
  end
  if #texts > 0 and turn.delay > 0 then
    set(host, 'was', host.next)
    set(host, 'next', whole(math.max(now, tonumber(host.next or 0)) + turn.delay))
  end
  moved.waiting, moved.leased = moved.waiting - #texts, moved.leased + #texts
  return texts
end

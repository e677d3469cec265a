-- Takes what goes next.
--
-- Input    take(turn): host, lane, most, batch, delay, ahead, concurrency
--          batch: token of this take; asked again for it, after a lost reply, the same requests are answered
--          delay: the host's (ms); ahead: takes even when the host may be asked only in so many ms
--          concurrency: most of the host in flight, in all lanes together; 0: no bound
-- Output   "<priority>\n<request>", … ; token <batch>.<n> is the nth's
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
      lineEnded(turn.host, priority)
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
  if #texts == 0 then
    return texts
  end
  local fields = {}
  for n, text in ipairs(texts) do
    fields[2 * n - 1], fields[2 * n] = turn.batch .. '.' .. n, text
  end
  redis.call('HSET', flight, unpack(fields))
  if turn.delay > 0 then
    set(host, 'was', host.next)
    set(host, 'next', whole(math.max(now, tonumber(host.next or 0)) + turn.delay))
  end
  moved.waiting, moved.leased = moved.waiting - #texts, moved.leased + #texts
  return texts
end

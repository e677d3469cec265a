-- A request whose worker is gone goes back to the head of its line, with its tries raised, or to quarantine.
--
-- Input    reclaim(jobId, quarantineAfter): a job that is not active any more
-- Output   {request id, worker, what fateOf() says}
local function unpacked(data)
  local isText, text = pcall(cjson.decode, data or '')
  if isText and type(text) == 'string' then
    return string.match(text, '^([^\n]*)\n([^\n]*)\n(.*)$')
  end
end

local function toQuarantine(jobId, text, why)
  redis.call('DEL', jobKey(jobId))
  quarantine(quarantined, histories, text, why, nowText)
end

local function reclaim(jobId, quarantineAfter)
  local worker, data, priority = unpack(redis.call('HMGET', jobKey(jobId), 'pb', 'data', 'priority'))
  worker = worker or ''
  local id, line, json = unpacked(data)
  if not id then
    toQuarantine(jobId, jobId .. '\n\n' .. (data or ''), 'this job is no request')
    return { jobId, worker, 'quarantined' }
  end
  local attempt, kills, refusals, suspect = string.match(line == '' and '1:0:0:0' or line, '^(%d+):(%d+):(%d+):(%d)$')
  local fate, killed, what = fateOf(id, worker, quarantineAfter, tonumber(kills or 0))
  if what then
    note(histories, id, nowText, worker, what)
  end
  if fate == 'quarantined' then
    toQuarantine(jobId, id .. '\n\n' .. json, 'it killed ' .. killed .. ' workers that ran it alone')
  else
    local tries = { (attempt or 1) + 1, killed, refusals or 0, fate == 'suspect' and 1 or suspect or 0 }
    redis.call('HSET', jobKey(jobId), 'data', cjson.encode(id .. '\n' .. table.concat(tries, ':') .. '\n' .. json))
    redis.call('HDEL', jobKey(jobId), 'pb')
    queueFirst(jobId, tonumber(priority))
  end
  return { id, worker, fate }
end

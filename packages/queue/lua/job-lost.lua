-- A request whose worker is gone: it is to blame, a suspect, or innocent.
--
-- Input    takeBack(jobId, quarantineAfter): a job that is not active any more
-- Output   {request id, worker, what became of it}
local function unpacked(data)
  local isText, text = pcall(cjson.decode, data or '')
  if isText and type(text) == 'string' then
    return string.match(text, '^([^\n]*)\n([^\n]*)\n(.*)$')
  end
end

local function fates(jobId, id, worker, kills, quarantineAfter)
  local runsAlone = redis.call('HGET', alone, worker)
  if not runsAlone then
    return 'suspect', kills, 'its worker died, or lost its connection, with this request in flight'
  elseif runsAlone ~= id then
    return 'innocent', kills
  end
  redis.call('HDEL', alone, worker)
  local what = 'its worker died, or lost its connection, while it ran this request alone'
  return kills + 1 < quarantineAfter and 'suspect' or 'quarantined', kills + 1, what
end

local function takeBack(jobId, quarantineAfter)
  local worker, data, priority = unpack(redis.call('HMGET', jobKey(jobId), 'pb', 'data', 'priority'))
  worker = worker or ''
  local id, marks, json = unpacked(data)
  if not id then
    redis.call('DEL', jobKey(jobId))
    quarantine(quarantined, histories, jobId .. '\n\n' .. (data or ''), 'this job is no request', nowText)
    return { jobId, worker, 'quarantined' }
  end
  local attempt, kills, refusals, suspect = string.match(marks == '' and '1:0:0:0' or marks, '^(%d+):(%d+):(%d+):(%d)$')
  local fate, killsNow, what = fates(jobId, id, worker, tonumber(kills or 0), quarantineAfter)
  if what then
    note(histories, id, nowText, worker, what)
  end
  if fate == 'quarantined' then
    redis.call('DEL', jobKey(jobId))
    quarantine(quarantined, histories, id .. '\n\n' .. json, 'it killed ' .. killsNow .. ' workers that ran it alone', nowText)
    return { id, worker, fate }
  end
  marks = table.concat({ (attempt or 1) + 1, killsNow, refusals or 0, fate == 'suspect' and 1 or suspect or 0 }, ':')
  redis.call('HSET', jobKey(jobId), 'data', cjson.encode(id .. '\n' .. marks .. '\n' .. json))
  redis.call('HDEL', jobKey(jobId), 'pb')
  queueFirst(jobId, tonumber(priority))
  return { id, worker, fate }
end

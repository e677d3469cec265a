-- Input    add(jobId, data, priority, lifo): data the packed request as JSON
-- Output   1; 0 for a job that is in the queue already, in whatever state: it stays as it is
local function add(jobId, data, priority, lifo)
  if redis.call('EXISTS', jobKey(jobId)) == 1 then
    return 0
  end
  redis.call('HSET', jobKey(jobId), 'name', 'request', 'data', data, 'opts', '{"priority":' .. priority .. '}',
    'timestamp', nowText, 'delay', 0, 'priority', priority)
  queue(jobId, priority, lifo)
  return 1
end

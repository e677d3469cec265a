-- A request's history, and its end in quarantine. Both hashes are by request id: the history as lines of JSON, the
-- quarantined as one JSON text. For scripts of several files; src/quarantine.ts reads what is written here.
--
-- Input    note(histories, id, at, worker, what): a line more. at: ms, as text. The oldest lines go when there are too many
--          quarantine(quarantined, histories, text, reason, at): text as packed; its tries are forgotten
-- Output   nothing
--
-- Of the request's JSON only the validity is looked at: cjson would change numbers and empty lists.
local HISTORY_BYTES_MAX = 8000

local function note(histories, id, at, worker, what)
  local line = '{"at":' .. at .. ',"worker":' .. cjson.encode(worker) .. ',"what":' .. cjson.encode(what) .. '}'
  local lines = redis.call('HGET', histories, id)
  lines = lines and lines .. '\n' .. line or line
  while #lines > HISTORY_BYTES_MAX and string.find(lines, '\n', 1, true) do
    lines = string.gsub(lines, '^[^\n]*\n', '', 1)
  end
  redis.call('HSET', histories, id, lines)
end

local function quarantine(quarantined, histories, text, reason, at)
  local id = string.match(text, '^[^\n]*')
  local json = string.match(text, '^[^\n]*\n[^\n]*\n(.*)$') or text
  if not pcall(cjson.decode, json) then
    json = cjson.encode(json)
  end
  local history = string.gsub(redis.call('HGET', histories, id) or '', '\n', ',')
  redis.call('HSET', quarantined, id, '{"id":' .. cjson.encode(id) .. ',"request":' .. json .. ',"reason":' ..
    cjson.encode(reason) .. ',"history":[' .. history .. '],"quarantinedAt":' .. at .. '}')
  redis.call('HDEL', histories, id)
end

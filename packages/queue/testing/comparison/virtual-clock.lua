-- A clock that a test sets, in the place of slots/clock.lua. Keys end by it, too, what is published is noted, and the members
-- of a set come in order, so that two runs are the same.
--
-- Input    clock:now (ms), clock:present: how many workers listen, clock:replid: what INFO says of the server's history
-- Output   now (ms), redis; clock:ends: key → when it ends (ms); clock:said: "<channel>\n<text>", …
local server = redis
local now = tonumber(server.call('GET', 'clock:now'))
for _, ended in ipairs(server.call('ZRANGEBYSCORE', 'clock:ends', '-inf', string.format('(%.0f', now))) do
  server.call('DEL', ended)
  server.call('ZREM', 'clock:ends', ended)
end
local function ends(name, ms)
  server.call('ZADD', 'clock:ends', string.format('%.0f', now + ms), name)
end
local redis = {}
function redis.call(command, name, ...)
  local given = { ... }
  if command == 'SET' then
    server.call('ZREM', 'clock:ends', name)
    if given[2] == 'PX' then
      ends(name, given[3])
    end
    return server.call('SET', name, given[1])
  elseif command == 'PEXPIRE' then
    local isThere = server.call('EXISTS', name)
    if isThere == 1 then
      ends(name, given[1])
    end
    return isThere
  elseif command == 'DEL' then
    server.call('ZREM', 'clock:ends', name)
  elseif command == 'PUBLISH' then
    server.call('RPUSH', 'clock:said', name .. '\n' .. given[1])
    return 0
  elseif command == 'INFO' then
    return 'master_replid:' .. server.call('GET', 'clock:replid') .. '\r\nmaster_repl_offset:0\r\n'
  elseif command == 'PUBSUB' then
    return { '', tonumber(server.call('GET', 'clock:present')) }
  elseif command == 'SMEMBERS' then
    local members = server.call('SMEMBERS', name)
    table.sort(members)
    return members
  end
  return server.call(command, name, ...)
end

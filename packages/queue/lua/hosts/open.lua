-- A host gets a lane, or another one.
--
-- Input    open(host); forget(host): what was learned of it
-- Output   see hosts/wake.lua
local function forget(host)
  for _, field in ipairs({ 'floor', 'failures', 'paused', 'why' }) do
    set(host, field, nil)
  end
end

-- What was learned before the crawl was cleared is forgotten, except for when the host may be asked.
local function reopen(host)
  if tonumber(host.idle) <= tonumber(redis.call('HGET', KEYS[2], 'clearedAt') or 0) then
    forget(host)
  end
  redis.call('PERSIST', key('host', host.name))
  set(host, 'idle', nil)
end

local function open(host)
  local lane = 0
  while host['g' .. lane] do
    lane = lane + 1
  end
  set(host, 'up', whole((host.up or 0) + 1))
  if host.idle then
    reopen(host)
  end
  wake(host, lane)
end

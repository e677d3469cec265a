-- Links in doubt, in either QUEUE_MODE: another asker was told that they are new, and may not queue them. Set aside here in
-- the step that stores their page's other links, they are asked about again; then they are queued, or deleted.
--
-- Input    BullMQ's prefix and queue with a colon, as `base`; now, from the file before
--          <base>doubts        hash  id → packed request
--          <base>doubts:since  zset  id → since when it waits to be asked about (ms); of one that is being asked about,
--                                    when it waits again
--          <base>doubts:queued  zset  id → when its doubt ended and it was queued (ms): a page that meets it a little later may
--                                    not know of that, and need not have it set aside
--          <base>doubts:ended:<token>  string  ids that a command has queued: the command may be sent twice
-- Output   setAside(base, texts), drop(base, id) → how many were not in there, or were
local ENDED_KEPT_MS = 30000
-- Longer than a link may count as lost: `lostCommitMs`, and while the crawl stands still.
local QUEUED_KEPT_MS = 120000

local function setAside(base, texts)
  local added = 0
  for _, text in ipairs(texts) do
    local id = string.match(text, '^[^\n]*')
    local queuedAt = redis.call('ZSCORE', base .. 'doubts:queued', id)
    local isQueued = queuedAt and now - tonumber(queuedAt) < QUEUED_KEPT_MS
    if not isQueued and redis.call('HSETNX', base .. 'doubts', id, text) == 1 then
      redis.call('ZADD', base .. 'doubts:since', string.format('%.0f', now), id)
      added = added + 1
    end
  end
  return added
end

local function drop(base, id)
  redis.call('ZREM', base .. 'doubts:since', id)
  return redis.call('HDEL', base .. 'doubts', id)
end

-- What a script has for other shards goes to lists of its own shard, one for each receiver, and stays there until the receiver
-- cannot lose it any more. Entries to one receiver are numbered. An epoch is a stretch of these numbers that one history of this
-- server has given out, "<replid>.<first number>": a server that has gone back gives out numbers again, in another epoch.
--
-- Input    stir, for sendAll
--          KEYS[1] <frontier>:outbox:<shard>  list  "<number>\n<asker>\n<bucket>\n<slot>\n<priority>\n<request>"
--                  <frontier>:sent            hash  shard → "<number of the first in its list> <epoch> <its last number> <epoch> …"
--          KEYS[2] outbox: bytes in all lists
--          send(shard, asker, bucket, slot, priority, texts): gathers
--          sendReady(shard, entries): the same of entries that lack but their numbers: to join them here would copy each request once more
--          sendAll(): writes what has gathered, as the last thing that a script does. Returns of each receiver: shard, epoch, number of the
--          first entry, how many, …
--          sentOf(shard), tidy(spans): the field, split at its spaces; without epochs of which nothing is in the list
--          outboxRefusal(): the error WEBLOOM_OUTBOXFULL <bytes in all lists>; nil while there is room. replidOf()
-- Output   none
local OUTBOX_BYTES_MAX, MAX_ENTRIES_PER_PUSH = 67108864, 1000
local replid, entriesTo, receivers = nil, {}, {}

-- Another shard does not answer.
local function outboxRefusal()
  local bytes = tonumber(redis.call('HGET', KEYS[2], 'outbox') or 0)
  return bytes > OUTBOX_BYTES_MAX and redis.error_reply('WEBLOOM_OUTBOXFULL ' .. whole(bytes)) or nil
end

-- What a worker believes may be outdated, and a key goes back with all others: only the server itself knows.
local function replidOf()
  replid = replid or string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
  return string.sub(replid, 1, 12)
end

local function spansOf(text)
  local spans = {}
  for part in string.gmatch(text or '1', '%S+') do
    spans[#spans + 1] = part
  end
  return spans
end

local function sentOf(shard)
  return spansOf(redis.call('HGET', KEYS[1] .. ':sent', shard))
end

-- Of epochs of which nothing is in the list only the last is kept: it may get more.
local function tidy(spans)
  while #spans > 3 and tonumber(spans[3]) < tonumber(spans[1]) do
    table.remove(spans, 2)
    table.remove(spans, 2)
  end
  return table.concat(spans, ' ')
end

local function entriesFor(shard)
  if not entriesTo[shard] then
    entriesTo[shard], receivers[#receivers + 1] = {}, shard
  end
  return entriesTo[shard]
end

local function sendReady(shard, ready)
  local entries = entriesFor(shard)
  for _, entry in ipairs(ready) do
    entries[#entries + 1] = entry
  end
end

local function send(shard, asker, bucket, slot, priority, texts)
  local entries = entriesFor(shard)
  local head = '\n' .. asker .. '\n' .. bucket .. '\n' .. slot .. '\n' .. priority .. '\n'
  for _, text in ipairs(texts) do
    entries[#entries + 1] = head .. text
  end
end

-- Numbers the entries, and returns how many bytes they have.
local function push(shard, entries, last)
  local list, bytes = key('outbox', shard), 0
  for i, entry in ipairs(entries) do
    entries[i] = last + i .. entry
    bytes = bytes + #entries[i]
  end
  for from = 1, #entries, MAX_ENTRIES_PER_PUSH do
    redis.call('RPUSH', list, unpack(entries, from, math.min(#entries, from + MAX_ENTRIES_PER_PUSH - 1)))
  end
  return bytes
end

local function sendAll()
  local sent, fields, bytes = {}, {}, 0
  for r, text in ipairs(#receivers > 0 and redis.call('HMGET', KEYS[1] .. ':sent', unpack(receivers)) or {}) do
    local shard, spans = receivers[r], spansOf(text or nil)
    local entries, last = entriesTo[shard], tonumber(#spans > 1 and spans[#spans] or spans[1] - 1)
    if #spans == 1 or string.match(spans[#spans - 1], '^%w+') ~= replidOf() then
      spans[#spans + 1], spans[#spans + 2] = replidOf() .. '.' .. whole(last + 1), whole(last)
    end
    bytes = bytes + push(shard, entries, last)
    spans[#spans] = whole(last + #entries)
    for _, value in ipairs({ shard, spans[#spans - 1], last + 1, #entries }) do
      sent[#sent + 1] = value
    end
    fields[#fields + 1], fields[#fields + 2] = shard, tidy(spans)
  end
  if bytes > 0 then
    redis.call('HSET', KEYS[1] .. ':sent', unpack(fields))
    redis.call('HINCRBY', KEYS[2], 'outbox', bytes)
    stir('still')
  end
  return sent
end

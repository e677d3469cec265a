-- What a script has for other shards goes to lists of its own shard, one for each receiver, and stays there until the receiver
-- cannot lose it any more. Entries to one receiver are numbered. An epoch is a stretch of these numbers that one history of this
-- server has given out, "<replid>.<first number>": a server that has gone back gives out numbers again, in another epoch.
--
-- Input    KEYS[1] <frontier>:outbox:<shard>  list  "<number>\n<asker>\n<bucket>\n<slot>\n<priority>\n<request>"
--                  <frontier>:sent            hash  shard → "<number of the first in its list> <epoch> <its last number> <epoch> …"
--          KEYS[2] outbox: bytes in all lists
--          send(address, shard, asker, bucket, slot, priority, texts)
--          sentOf(shard), keepSent(shard, spans): the field, split at its spaces
--          isOutboxFull()
-- Output   sent: address, epoch, number of the first, … of each send
local OUTBOX_BYTES_MAX = 67108864
local OUTBOX_FULL = { err = "OOM command not allowed: the outbox is full, as another shard does not answer" }
local sent, replid, sentTo = {}, nil, {}

local function isOutboxFull()
  return tonumber(redis.call('HGET', KEYS[2], 'outbox') or 0) > OUTBOX_BYTES_MAX
end

-- What a worker believes may be outdated, and a key goes back with all others: only the server itself knows.
local function replidOf()
  replid = replid or string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
  return string.sub(replid, 1, 12)
end

local function sentOf(shard)
  if not sentTo[shard] then
    local spans = {}
    for part in string.gmatch(redis.call('HGET', KEYS[1] .. ':sent', shard) or '1', '%S+') do
      spans[#spans + 1] = part
    end
    sentTo[shard] = spans
  end
  return sentTo[shard]
end

-- Of epochs of which nothing is in the list only the last is kept: it may get more.
local function keepSent(shard, spans)
  while #spans > 3 and tonumber(spans[3]) < tonumber(spans[1]) do
    table.remove(spans, 2)
    table.remove(spans, 2)
  end
  redis.call('HSET', KEYS[1] .. ':sent', shard, table.concat(spans, ' '))
end

local function send(address, shard, asker, bucket, slot, priority, texts)
  local spans, entries, bytes = sentOf(shard), {}, 0
  local last = tonumber(spans[#spans - 1] and spans[#spans] or spans[1] - 1)
  if #spans == 1 or string.match(spans[#spans - 1], '^%w+') ~= replidOf() then
    spans[#spans + 1], spans[#spans + 2] = replidOf() .. '.' .. whole(last + 1), whole(last)
  end
  sent[#sent + 1], sent[#sent + 2], sent[#sent + 3] = address, spans[#spans - 1], last + 1
  for i, text in ipairs(texts) do
    entries[i] = table.concat({ whole(last + i), asker, bucket, slot, priority, text }, '\n')
    bytes = bytes + #entries[i]
  end
  redis.call('RPUSH', key('outbox', shard), unpack(entries))
  redis.call('HINCRBY', KEYS[2], 'outbox', bytes)
  spans[#spans] = whole(last + #texts)
  keepSent(shard, spans)
end

-- Deletes entries that their receivers cannot lose any more.
--
-- Input    ARGV[2] receivers; of each: shard, epoch, number up to which all may go
--          KEYS[2] outbox: bytes in all lists. Entries that go count as the mean of all: to read them would cost ten times what deleting them does
-- Output   how many were deleted, at most MAX_TRIMMED_PER_CALL: then there may be more. Nothing is, when this shard has not given out that number in that epoch: it has gone back
local MAX_TRIMMED_PER_CALL = 2000

local function isSent(spans, epoch, number)
  for i = 2, #spans, 2 do
    if spans[i] == epoch then
      return number <= tonumber(spans[i + 1])
    end
  end
  return false
end

local fields, spansTo, all = redis.call('HGETALL', KEYS[1] .. ':sent'), {}, 0
for i = 1, #fields, 2 do
  local spans = spansOf(fields[i + 1])
  spansTo[fields[i]], all = spans, all + (#spans > 1 and spans[#spans] - spans[1] + 1 or 0)
end

local bytes = tonumber(redis.call('HGET', KEYS[2], 'outbox') or 0)
local gone, before = 0, bytes
for _ = 1, number() do
  local shard, epoch, upTo = arg(), arg(), number()
  local spans = spansTo[shard] or spansOf()
  local first = tonumber(spans[1])
  local count = math.min(upTo - first + 1, MAX_TRIMMED_PER_CALL - gone)
  if count > 0 and isSent(spans, epoch, upTo) then
    redis.call('LTRIM', key('outbox', shard), count, -1)
    bytes = bytes - math.floor(bytes * count / all)
    gone, all, spans[1] = gone + count, all - count, whole(first + count)
    redis.call('HSET', KEYS[1] .. ':sent', shard, tidy(spans))
  end
end
if bytes < before then
  redis.call('HINCRBY', KEYS[2], 'outbox', bytes - before)
end
return gone

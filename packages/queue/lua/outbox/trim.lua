-- Deletes entries that their receivers cannot lose any more.
--
-- Input    ARGV[2] receivers; of each: shard, epoch, number up to which all may go
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

local gone, bytes = 0, 0
for _ = 1, number() do
  local shard, epoch, upTo = arg(), arg(), number()
  local spans = sentOf(shard)
  local first = tonumber(spans[1])
  local count = math.min(upTo - first + 1, MAX_TRIMMED_PER_CALL - gone)
  if count > 0 and isSent(spans, epoch, upTo) then
    local entries = redis.call('LPOP', key('outbox', shard), count) or {}
    for _, entry in ipairs(entries) do
      bytes = bytes + #entry
    end
    gone, spans[1] = gone + #entries, whole(first + count)
    redis.call('HSET', KEYS[1] .. ':sent', shard, tidy(spans))
  end
end
if bytes > 0 then
  redis.call('HINCRBY', KEYS[2], 'outbox', -bytes)
end
return gone

-- Deletes entries that their receivers cannot lose any more.
--
-- Input    ARGV[2] receivers; of each: shard, epoch, number up to which all may go
-- Output   how many were deleted. Nothing is, when this shard has not given out that number in that epoch: it has gone back
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
  if upTo >= first and isSent(spans, epoch, upTo) then
    local entries = redis.call('LPOP', key('outbox', shard), upTo - first + 1) or {}
    for _, entry in ipairs(entries) do
      bytes = bytes + #entry
    end
    gone, spans[1] = gone + #entries, whole(upTo + 1)
    keepSent(shard, spans)
  end
end
if bytes > 0 then
  redis.call('HINCRBY', KEYS[2], 'outbox', -bytes)
end
return gone

-- The ledger of failures: requests that were given up, each once, with its latest failure. Those in quarantine are apart, see
-- leasing/quarantine.lua. Of a signature with the most entries the oldest go first, so that a common failure never pushes a rare one out.
--
-- Input    <base>failures              hash  request id → "<signature>\n<what is known, JSON>\n<request, JSON, or nothing>"
--          <base>failures:of:<signature>  zset  request id → number of its failure
--          <base>failures:sizes        zset  signature → how many there are of it
--          <base>failures:counts       hash  total, trimmed, bytes, signatures, retried
--          <base>failures:signatures   hash  "total|<signature>", "trimmed|…", "first|…" and "last|…" (JSON)
--          keepFailure(base, text, at): text "<id>\n<signature>\n<most entries>\n<what is known>\n<request>"; at (ms), as text
--          forgetFailure(base, id)
-- Output   keepFailure → how many were trimmed; forgetFailure → the signature, nil when there is no such entry
local SIGNATURES_MAX, FAILURES_BYTES_MAX, MAX_TRIMMED_PER_CALL = 100, 67108864, 20

local function forgetFailure(base, id)
  local kept = redis.call('HGET', base .. 'failures', id)
  if not kept then
    return nil
  end
  local signature = string.match(kept, '^[^\n]*')
  redis.call('HDEL', base .. 'failures', id)
  redis.call('ZREM', base .. 'failures:of:' .. signature, id)
  redis.call('HINCRBY', base .. 'failures:counts', 'bytes', -#kept)
  if tonumber(redis.call('ZINCRBY', base .. 'failures:sizes', -1, signature)) <= 0 then
    redis.call('ZREM', base .. 'failures:sizes', signature)
  end
  return signature
end

-- Signatures are as few as may be listed: what is beyond counts as one.
local function roomFor(base, signature)
  local counts = base .. 'failures:counts'
  if redis.call('HEXISTS', base .. 'failures:signatures', 'total|' .. signature) == 1 then
    return signature
  elseif tonumber(redis.call('HGET', counts, 'signatures') or 0) >= SIGNATURES_MAX then
    return 'other'
  end
  redis.call('HINCRBY', counts, 'signatures', 1)
  return signature
end

local function trimFailures(base, most)
  local trimmed, counts = 0, base .. 'failures:counts'
  while trimmed < MAX_TRIMMED_PER_CALL and (redis.call('HLEN', base .. 'failures') > most
    or tonumber(redis.call('HGET', counts, 'bytes')) > FAILURES_BYTES_MAX) do
    local largest = redis.call('ZREVRANGE', base .. 'failures:sizes', 0, 0)[1]
    forgetFailure(base, redis.call('ZRANGE', base .. 'failures:of:' .. largest, 0, 0)[1])
    redis.call('HINCRBY', base .. 'failures:signatures', 'trimmed|' .. largest, 1)
    trimmed = trimmed + 1
  end
  if trimmed > 0 then
    redis.call('HINCRBY', counts, 'trimmed', trimmed)
  end
  return trimmed
end

local function keepFailure(base, text, at)
  local id, signature, most, about, request = string.match(text, '^([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
  forgetFailure(base, id)
  signature = roomFor(base, signature)
  local n = redis.call('HINCRBY', base .. 'failures:counts', 'total', 1)
  local known = '{"number":' .. n .. ',"at":' .. at .. ',' .. string.sub(about, 2)
  local kept = signature .. '\n' .. known .. '\n' .. request
  redis.call('HSET', base .. 'failures', id, kept)
  redis.call('ZADD', base .. 'failures:of:' .. signature, n, id)
  redis.call('ZINCRBY', base .. 'failures:sizes', 1, signature)
  redis.call('HINCRBY', base .. 'failures:counts', 'bytes', #kept)
  redis.call('HINCRBY', base .. 'failures:signatures', 'total|' .. signature, 1)
  redis.call('HSETNX', base .. 'failures:signatures', 'first|' .. signature, known)
  redis.call('HSET', base .. 'failures:signatures', 'last|' .. signature, known)
  return trimFailures(base, tonumber(most))
end

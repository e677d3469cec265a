-- Counts what a host's filter has.
--
-- Input    header.bits, header.hashes, header.room of each filter: how many requests it holds
--          KEYS[6 + #header.groups] hosts: hash host → "inserted set"; KEYS[5] has fullest, "<set> <inserted> <host>"
-- Output   countForHost(host, count, newlySet); `inserted`, `lost` for all hosts; filled, the hosts that have just become full
local filled = {}

local function countForHost(host, count, newlySet)
  local hosts = KEYS[6 + #header.groups]
  local had, hadSet = string.match(redis.call('HGET', hosts, host) or '0 0', '^(%d+) (%d+)$')
  local has, hasSet = had + count, hadSet + newlySet
  local passed = 1 - math.pow(hadSet / header.bits, header.hashes)
  inserted, lost = inserted + count, lost + count * (1 / math.max(passed, 1e-6) - 1)
  redis.call('HSET', hosts, host, string.format('%.0f %.0f', has, hasSet))
  if tonumber(had) < header.room and has >= header.room then
    filled[#filled + 1] = host
  end
  local most = string.match(redis.call('HGET', KEYS[5], 'fullest') or '0', '^%d+')
  if hasSet > tonumber(most) then
    redis.call('HSET', KEYS[5], 'fullest', string.format('%.0f %.0f ', hasSet, has) .. host)
  end
end

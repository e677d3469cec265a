-- Does what somebody has ordered for a slot, as far as it concerns what waits in Redis: how long it is paused, and how urgent
-- its requests are. Each worker runs it when it learns of the order: the second time it changes nothing.
--
-- Input    ARGV[2] bucket, [3] slot, [4] for how long it is paused from now on (ms), "" as it is, [5] why
--          [6] the delay that is ordered (ms), "" for none: whatever was learned, it may be asked so much later at the latest
--          [7] by how much boosted requests are more urgent than others; [8] "1" when those of the slot are boosted
-- Output   {woken, raised}
local bucket, slot, pause, why, delay, boost, isBoosted = arg(), arg(), arg(), arg(), number(), number(), arg() == '1'
local line, record = lineOf(bucket, slot), recordOf(slot)

local function urged(priority)
  local urgency = tonumber(priority)
  if (urgency > boost / 2) == isBoosted then
    return priority
  end
  return string.format('%.0f', urgency + (isBoosted and boost or -boost))
end

local function move(from)
  local to = urged(from)
  local list, target = key('line', slot, from), key('line', slot, to)
  if to == from or redis.call('EXISTS', list) == 0 then
    return
  end
  if redis.call('EXISTS', target) == 0 then
    redis.call('RENAME', list, target)
  else
    for _, text in ipairs(redis.call('LRANGE', list, 0, -1)) do
      redis.call('RPUSH', target, text)
    end
    redis.call('DEL', list)
  end
  redis.call('ZREM', key('prios', slot), from)
  hasList(line, to)
end

if line.state then
  if line.text then
    local entries = entriesOf(line)
    for _, entry in ipairs(entries) do
      entry[1] = urged(entry[1])
    end
    setEntries(line, entries)
  else
    local priorities = redis.call('ZRANGE', key('prios', slot), 0, -1)
    priorities[#priorities + 1] = '0'
    for _, priority in ipairs(priorities) do
      move(priority)
    end
  end
end

if pause ~= '' then
  record.paused, record.why = now + tonumber(pause), why
  if record.paused > now then
    redis.call('ZADD', KEYS[1] .. ':paused', whole(record.paused), slot)
  else
    record.paused, record.why = 0, ''
    redis.call('ZREM', KEYS[1] .. ':paused', slot)
  end
end
if delay then
  record.next = math.min(record.next, now + delay)
end
keep(record)

if line.state == 'l' then
  redis.call('ZREM', key('later', bucket), slot)
end
if line.state == 'r' or line.state == 'l' then
  if mayGoAt(record) > now then
    wait(line, mayGoAt(record))
  else
    stand(line, headOf(line))
  end
elseif line.state then
  save(line, line.state, line.priority)
  if line.state == 'h' and headOf(line) then
    arrived(unitOf(slot), headOf(line))
  end
end
tally()
return { woken, raised }

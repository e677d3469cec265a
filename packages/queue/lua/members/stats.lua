-- Writes what a worker has counted, and keeps the crawl's totals by the difference to what it had written before.
--
-- Input    KEYS[1] stats; ARGV[1] {name, beat: 1, 2, 3…, begunAt, runningSince, stats: [[stat, kind, value]…], asked: [stat…]}
--          kind: sum, max, min or last
-- Output   {what became of it, total since runningSince of each asked…}
--          1 written, 2 written, but what was written last is lost, 0 refused: the name or the crawl is not known any more
local ask = cjson.decode(ARGV[1])
local stats, outcome = KEYS[1], 1
local run, session, last = unpack(redis.call('HMGET', stats, 'begunAt', 'runningSince', 'beat|' .. ask.name))
if run ~= ask.begunAt and ask.beat == 1 and tonumber(run or 0) < tonumber(ask.begunAt) then
  redis.call('DEL', stats)
  redis.call('HSET', stats, 'begunAt', ask.begunAt)
  session, last = nil, nil
elseif run ~= ask.begunAt or (ask.beat > 1 and not last) then
  return { 0 }
end
if tonumber(ask.runningSince) > tonumber(session or 0) then
  redis.call('HSET', stats, 'runningSince', ask.runningSince)
  startSession(stats)
end
last = tonumber(last or 0)
if ask.beat > last then
  redis.call('HSET', stats, 'beat|' .. ask.name, ask.beat)
  write(stats, ask.name, ask.stats)
  outcome = ask.beat > last + 1 and 2 or 1
end
local reply = { outcome }
for n, stat in ipairs(ask.asked) do
  local total = redis.call('HMGET', stats, 'total|' .. stat, 'before|' .. stat)
  reply[n + 1] = string.format('%.17g', (tonumber(total[1] or 0) or 0) - (tonumber(total[2] or 0) or 0))
end
return reply

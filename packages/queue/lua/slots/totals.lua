-- How many slots are in each state, of those of which something waits: by the lengths of the buckets' lists alone.
--
-- Input    KEYS[1] frontier; ARGV[1] number of buckets
-- Output   {slots with a line, those whose delay or pause runs, those that a worker holds, hot ones, paused ones}
local withLine, later, held, hot = 0, 0, 0, 0
for n = 0, tonumber(ARGV[1]) - 1 do
  withLine = withLine + redis.call('HLEN', KEYS[1] .. ':lines:#' .. n)
  later = later + redis.call('ZCARD', KEYS[1] .. ':later:#' .. n)
  held = held + redis.call('SCARD', KEYS[1] .. ':with:#' .. n)
end
-- Units are buckets, and hot slots by their own names.
local units = {}
for _, job in ipairs(redis.call('ZRANGE', KEYS[1] .. ':due', 0, -1)) do
  local unit = string.gsub(job, '~%d+~%d+$', '')
  if string.sub(unit, 1, 1) ~= '#' and not units[unit] then
    units[unit], hot = true, hot + 1
  end
end
return { withLine, later, held, hot, redis.call('ZCOUNT', KEYS[1] .. ':paused', nowText, '+inf') }

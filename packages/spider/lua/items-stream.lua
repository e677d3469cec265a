-- Adds items to a stream, which drops its oldest when it holds too many.
--
-- Input    KEYS[1] stream; ARGV[1] about how many it may hold (0: any number), ARGV[2…] id, item, id, item, …
-- Output   how many were added: all of them
for i = 2, #ARGV, 2 do
  if ARGV[1] == '0' then
    redis.call('XADD', KEYS[1], '*', 'id', ARGV[i], 'item', ARGV[i + 1])
  else
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'id', ARGV[i], 'item', ARGV[i + 1])
  end
end
return (#ARGV - 1) / 2

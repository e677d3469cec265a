-- Tells which commands the user of this connection may not run here. It runs none of them.
--
-- Input    ARGV[1…] a command each, with its subcommand and key if it is asked with one, each on a line
-- Output   those of them that are refused, or that this Redis does not have; nil before Redis 7, which cannot be asked
if not redis.acl_check_cmd then
  return false
end
local missing = {}
for i = 1, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[i], '[^\n]+') do
    words[#words + 1] = word
  end
  local known, allowed = pcall(redis.acl_check_cmd, unpack(words))
  if not (known and allowed) then
    missing[#missing + 1] = ARGV[i]
  end
end
return missing

-- Tells which commands the user of this connection may not run here. It runs none of them.
--
-- Input    ARGV[1…] a command each, with its subcommand and arguments, each on a line; without arguments where no key is known
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
  -- Releases of 2026 want all arguments, and so cannot be asked without a key.
  local cannotTell = not known and string.find(tostring(allowed.err or allowed), 'Wrong number of args', 1, true)
  if not (known and allowed or cannotTell) then
    missing[#missing + 1] = ARGV[i]
  end
end
return missing

-- Removes failures.
--
-- Input    takeFailure; KEYS[1] base of the keys, KEYS[2] quarantine; ARGV[1…] id, key, …
-- Output   the ids that were there
local gone = {}
for i = 1, #ARGV, 2 do
  if takeFailure(KEYS[1], KEYS[2], ARGV[i], ARGV[i + 1]) then
    gone[#gone + 1] = ARGV[i]
  end
end
return gone

-- Takes entries that were read off the wheel, and marks their pages as in a line.
--
-- Input    takeOffWheel; KEYS[1] base; ARGV[2] span; entries, as the first 8 bytes of each, in order
-- Output   as takeOffWheel
local span, names = arg(), {}
for i = 1, number() do
  names[i] = arg()
end
return takeOffWheel(KEYS[1], span, names)

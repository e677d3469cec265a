-- Takes entries that were read off the wheel, and marks their pages as in a line.
--
-- Input    readEntries, takeOffWheel; KEYS[1] base; ARGV[2] span; entries, as readEntries has them
-- Output   as takeOffWheel
local span = arg()
return takeOffWheel(KEYS[1], span, readEntries())

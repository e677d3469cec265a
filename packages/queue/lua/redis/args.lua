-- Arguments one by one, from the second on.
--
-- Input    ARGV
-- Output   arg(), number()
local at = 1

local function arg()
  at = at + 1
  return ARGV[at]
end

local function number()
  return tonumber(arg())
end

-- Counts down what one request counted up. A counter at 15 may stand for more, and stays.
--
-- Input    see counting/record.lua
-- Output   erase() takes the first member out, which is there
local function erase()
  local places = {}
  for n, counter in ipairs(countersOf(1)) do
    if counter < 15 then
      places[#places + 1], set = at[1][n + 1], set - (counter == 1 and 1 or 0)
    end
  end
  if #places > 0 then
    change(1, '-1', places)
  end
  inserted = inserted - 1
  keepCounts()
end

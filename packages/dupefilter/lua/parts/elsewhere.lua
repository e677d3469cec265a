-- Askers that are settled, and whose last attempt has asked other parts of the filter. Hardly one is known here: it has asked before,
-- on a worker that was lost, or before its queue went back.
--
-- Input    header.elsewhere  [[run, [asker…]]…]
-- Output   settleElsewhere(): what they were told is new here is un-marked, as in redis/settle.lua
local function settleElsewhere()
  for _, group in ipairs(header.elsewhere) do
    local run, owners = unpack(group)
    local settlings = {}
    for n, owner in ipairs(owners) do
      settlings[n] = { owner, '-', run }
    end
    settleAll(settlings)
  end
end

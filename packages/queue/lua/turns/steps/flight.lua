-- What is in flight on a lane goes back to the head of its line.
--
-- Input    inOrder(held): "<batch>.<n>", "<priority>\n<request>", …
-- Output   {batch, n, token, priority, text}, …, the last that was taken first: so each goes before the one after it
local function inOrder(held)
  local entries = {}
  for i = 1, #held, 2 do
    local batch, n = string.match(held[i], '^(%d+)%.(%d+)$')
    local priority, text = string.match(held[i + 1], '^([^\n]*)\n(.*)$')
    entries[#entries + 1] = { batch = tonumber(batch), n = tonumber(n), token = held[i], priority = priority, text = text }
  end
  table.sort(entries, function(a, b)
    return a.batch > b.batch or (a.batch == b.batch and a.n > b.n)
  end)
  return entries
end

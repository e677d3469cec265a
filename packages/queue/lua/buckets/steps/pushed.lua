-- The answer to a push.
--
-- Input    added
-- Output   {added, woken, raised}
return { added, woken, raised }

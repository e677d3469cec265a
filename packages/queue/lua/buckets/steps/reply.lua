-- The answer to an exchange.
--
-- Input    none
-- Output   {replies, woken, raised, how many failures were trimmed}
return { replies, woken, raised, trimmed }

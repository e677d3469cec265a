-- The answer about links whose doubt is over, and about what was given up and is tried again.
--
-- Input    queued
-- Output   {queued, woken, raised}
return { queued, woken, raised }

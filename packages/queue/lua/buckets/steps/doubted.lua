-- The answer about links whose doubt is over.
--
-- Input    queued
-- Output   {queued, woken, raised}
return { queued, woken, raised }

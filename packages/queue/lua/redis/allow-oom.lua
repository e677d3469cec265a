#!lua flags=allow-oom
-- Put before a script that must run when Redis is at its maxmemory, too. Redis 7 and later know that first line.
--
-- Input    none
-- Output   none

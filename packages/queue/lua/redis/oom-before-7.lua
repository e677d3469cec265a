-- Put before a script that must run when Redis is at its maxmemory, too, and is older than Redis 7: that lets a script go on
-- which has written already, and to delete what is not there is to write.
--
-- Input    none
-- Output   none
redis.call('DEL', KEYS[1] .. ':none')

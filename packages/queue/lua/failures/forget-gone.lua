-- Removes counts and responses of failures that are gone, when none is left.
--
-- Input    KEYS[1] failures, KEYS[2…] what is kept beside them
-- Output   nothing
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('UNLINK', unpack(KEYS, 2))
end

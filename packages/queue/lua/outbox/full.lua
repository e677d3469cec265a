-- A shard that has too much for others takes no more: it refuses before anything is done.
--
-- Input    ARGV[2] "grows" when something may be sent; KEYS[2] outbox, see outbox/send.lua
-- Output   none, or the error WEBLOOM_OUTBOXFULL
local refusal = ARGV[2] == 'grows' and outboxRefusal()
if refusal then
  return refusal
end

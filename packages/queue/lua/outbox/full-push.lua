-- The same for what start(), seeds and imports bring.
--
-- Input    KEYS[2] outbox, see outbox/send.lua
-- Output   none, or the error WEBLOOM_OUTBOXFULL
local refusal = outboxRefusal()
if refusal then
  return refusal
end

-- The same for what start(), seeds and imports bring.
--
-- Input    KEYS[2] outbox, see outbox/send.lua
-- Output   none, or the error
if isOutboxFull() then
  return OUTBOX_FULL
end

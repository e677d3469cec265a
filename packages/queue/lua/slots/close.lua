-- A lane that has nothing left to do.
--
-- Input    close(unit, lane)
-- Output   nothing
local function close(unit, lane)
  redis.call('ZREM', KEYS[1] .. ':due', jobOf(unit, lane))
  if unit.up ~= '1' then
    set(unit, 'g' .. lane, nil)
    set(unit, 'o' .. lane, nil)
    set(unit, 'up', whole(unit.up - 1))
    return
  end
  if unit.bucket then
    -- The slot is hot no more. What comes to it in this script finds no line.
    redis.call('HDEL', key('lines', unit.bucket), unit.name)
    longLines[unit.name] = nil
  end
  redis.call('DEL', key('unit', unit.name))
  units[unit.name] = { name = unit.name }
end

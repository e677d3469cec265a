-- Settings in which the workers of a crawl are to be alike, as its record notes them: a name with its value as text. Which are to be and why is the
-- worker's to know, see src/crawl/alike-settings.ts.
--
-- Input    asked: {fixed, together, told}, each {{name, value}, …}; of an earlier release nil
--          noted: the record's field `alike`, or nil
-- Output   otherThan(noted, settings) → name and value noted of the first that is another one; nothing is said of one that is not noted
--          noteAlike(record, noted, asked, isAnew): those that are not noted; isAnew: all, in place of what was noted
local function notedAlike(noted)
  return noted and cjson.decode(noted) or {}
end

local function otherThan(noted, settings)
  local values = notedAlike(noted)
  for _, setting in ipairs(settings) do
    local value = values[setting[1]]
    if value and value ~= setting[2] then
      return setting[1], value
    end
  end
end

local function noteAlike(record, noted, asked, isAnew)
  local values, isNew = isAnew and {} or notedAlike(noted), isAnew
  for _, settings in ipairs({ asked.fixed, asked.together, asked.told }) do
    for _, setting in ipairs(settings) do
      isNew = isNew or not values[setting[1]]
      values[setting[1]] = values[setting[1]] or setting[2]
    end
  end
  if isNew and next(values) then
    redis.call('HSET', record, 'alike', cjson.encode(values))
  end
end

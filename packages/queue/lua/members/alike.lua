-- Settings in which the workers of a crawl are to be alike, as its record notes them: a name with its value as text, and for a worker that has
-- joined with others of those that are told, these by its id. Which are to be and why is the worker's to know, see src/crawl/alike-settings.ts.
--
-- Input    asked: {fixed, together, told}, each {{name, value}, …}; of an earlier release nil
--          noted, unlike: the record's fields `alike` and `unlike`, or nil; present: the ids of the other workers at work
-- Output   otherThan(noted, settings) → name and value noted of the first that is another one; nothing is said of one that is not noted
--          othersHave(noted, unlike, present, settings) → {name: {value: how many workers at work have it}} as JSON, of all values that are other ones
--          noteAlike(record, noted, asked, isAnew): those that are not noted; isAnew: all, in place of what was noted
--          noteUnlike(record, unlike, others, worker, told): after that; others: the ids of those that are noted, as a silent one may be at work; of the rest nothing is kept
local function decoded(text)
  return text and cjson.decode(text) or {}
end

local function otherThan(noted, settings)
  local values = decoded(noted)
  for _, setting in ipairs(settings) do
    local value = values[setting[1]]
    if value and value ~= setting[2] then
      return setting[1], value
    end
  end
end

local function othersHave(noted, unlike, present, settings)
  local values, unlikes, others = decoded(noted), decoded(unlike), {}
  for _, setting in ipairs(settings) do
    local name = setting[1]
    for _, worker in ipairs(present) do
      local value = unlikes[worker] and unlikes[worker][name] or values[name]
      if value and value ~= setting[2] then
        others[name] = others[name] or {}
        others[name][value] = (others[name][value] or 0) + 1
      end
    end
  end
  return next(others) and cjson.encode(others) or ''
end

local function noteAlike(record, noted, asked, isAnew)
  local values, isNew = isAnew and {} or decoded(noted), isAnew
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

local function noteUnlike(record, unlike, others, worker, told)
  local values, before, kept = decoded(redis.call('HGET', record, 'alike') or nil), decoded(unlike), {}
  for _, other in ipairs(others) do
    kept[other] = before[other]
  end
  for _, setting in ipairs(told) do
    if values[setting[1]] ~= setting[2] then
      kept[worker] = kept[worker] or {}
      kept[worker][setting[1]] = setting[2]
    end
  end
  if next(kept) then
    redis.call('HSET', record, 'unlike', cjson.encode(kept))
  elseif unlike then
    redis.call('HDEL', record, 'unlike')
  end
end

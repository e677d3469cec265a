-- What a shard knows of the entries of others, of each sender and epoch: up to which number all are applied, and which beyond that.
--
-- Input    KEYS[1] <frontier>:applied  hash  sender → "<epoch> <number> <numbers beyond it, or -> <epoch> …"
--          appliedOf(sender): read once; dropOldest(sender): of too many epochs; keepApplied(): writes all that was read
--          epochOf(all, epoch): what is known of it
--          isApplied(known, number), noteApplied(known, number); follow(known, from, count): notes them all, if they are what comes next
--          forgive(known, from): the sender has nothing before that number
-- Output   follow → whether they are, as they are where nothing was lost or overtaken
--          forgive → how many it was, of those that are not applied
local EPOCHS_MAX = 8
local appliedBy = {}

local function appliedOf(sender)
  if appliedBy[sender] then
    return appliedBy[sender]
  end
  local all = {}
  appliedBy[sender] = all
  for epoch, upTo, beyond in string.gmatch(redis.call('HGET', KEYS[1] .. ':applied', sender) or '', '(%S+) (%d+) (%S+)') do
    local known = { epoch = epoch, upTo = tonumber(upTo), beyond = {} }
    for number in string.gmatch(beyond, '%d+') do
      known.beyond[tonumber(number)] = true
    end
    all[#all + 1] = known
  end
  return all
end

local function epochOf(all, epoch)
  for _, known in ipairs(all) do
    if known.epoch == epoch then
      return known
    end
  end
  local known = { epoch = epoch, upTo = string.match(epoch, '%d+$') - 1, beyond = {} }
  all[#all + 1] = known
  return known
end

local function isApplied(known, number)
  return number <= known.upTo or known.beyond[number] == true
end

local function noteApplied(known, number)
  known.beyond[number] = true
  while known.beyond[known.upTo + 1] do
    known.upTo = known.upTo + 1
    known.beyond[known.upTo] = nil
  end
end

local function follow(known, from, count)
  local areNext = from == known.upTo + 1 and next(known.beyond) == nil
  if areNext then
    known.upTo = from + count - 1
  end
  return areNext
end

local function forgive(known, from)
  local lost = 0
  while known.upTo < from - 1 do
    lost = lost + (known.beyond[known.upTo + 1] and 0 or 1)
    noteApplied(known, known.upTo + 1)
  end
  return lost
end

local function dropOldest(sender)
  local all = appliedBy[sender]
  while #all > EPOCHS_MAX do
    table.remove(all, 1)
  end
end

local function textOf(all)
  local parts = {}
  for i, known in ipairs(all) do
    local beyond = {}
    for number in pairs(known.beyond) do
      beyond[#beyond + 1] = number
    end
    table.sort(beyond)
    parts[i] = known.epoch .. ' ' .. whole(known.upTo) .. ' ' .. (beyond[1] and table.concat(beyond, ',') or '-')
  end
  return table.concat(parts, ' ')
end

local function keepApplied()
  local fields = {}
  for sender, all in pairs(appliedBy) do
    fields[#fields + 1], fields[#fields + 2] = sender, textOf(all)
  end
  if #fields > 0 then
    redis.call('HSET', KEYS[1] .. ':applied', unpack(fields))
  end
end

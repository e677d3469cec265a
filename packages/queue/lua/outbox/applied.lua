-- What a shard knows of the entries of others, of each sender and epoch: up to which number all are applied, and which beyond that.
--
-- Input    KEYS[1] <frontier>:applied  hash  sender → "<epoch> <number> <numbers beyond it, or -> <epoch> …"
--          appliedOf(sender), keepApplied(sender, all); epochOf(all, epoch): what is known of it
--          isApplied(known, number), noteApplied(known, number), forgive(known, from): the sender has nothing before that number
-- Output   forgive → how many it was, of those that are not applied
local EPOCHS_MAX = 8

local function appliedOf(sender)
  local all = {}
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

local function forgive(known, from)
  local lost = 0
  while known.upTo < from - 1 do
    lost = lost + (known.beyond[known.upTo + 1] and 0 or 1)
    noteApplied(known, known.upTo + 1)
  end
  return lost
end

local function keepApplied(sender, all)
  local parts = {}
  for i = math.max(1, #all - EPOCHS_MAX + 1), #all do
    local beyond = {}
    for number in pairs(all[i].beyond) do
      beyond[#beyond + 1] = number
    end
    table.sort(beyond)
    for n, number in ipairs(beyond) do
      beyond[n] = whole(number)
    end
    parts[#parts + 1] = all[i].epoch .. ' ' .. whole(all[i].upTo) .. ' ' .. (beyond[1] and table.concat(beyond, ',') or '-')
  end
  redis.call('HSET', KEYS[1] .. ':applied', sender, table.concat(parts, ' '))
end

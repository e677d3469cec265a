-- One question of a call.
--
-- Input    ask(question, members, entries, fresh): question as in redis/ask.lua; members and entries as in redis/holders.lua, as
--          the questions before it have left them; fresh, the members that are to be recorded
-- Output   the question's part of the reply, as in redis/ask.lua; changes entries and fresh

-- What the asker is told about a member that is there, and true when it takes the member.
local function answerAbout(held, own)
  if not held then
    return 2
  elseif isMine(held, own) then
    local answer = askedAgain(held, own)
    return answer, answer ~= 5
  end
  local how = standing(held)
  if how == 'free' then
    return held == '' and 0 or 3, true
  end
  return how == 'unsettled' and 1 or 6
end

local function ask(question, members, entries, fresh)
  local own, answers, others = ownState(question), {}, {}
  for n = 1, question.at and #question.at or #members do
    local i = question.at and question.at[n] or n
    local held, isTaken = entries[i], true
    if held == nil then
      answers[n], fresh[#fresh + 1] = 0, i
    else
      answers[n], isTaken = answerAbout(held, own)
    end
    if isTaken then
      take(own, i, held)
    elseif answers[n] == 6 then
      others[#others + 1] = string.sub(string.match(held, '^[^\n]*'), 1, 22)
    end
  end
  hold(own, members, entries)
  if #others == 0 and own.run == '' then
    return table.concat(answers)
  end
  return { table.concat(answers), table.concat(others, '\n'), own.run }
end

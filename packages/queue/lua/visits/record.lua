-- Notes visits.
--
-- Input    keepName, keepVisit; KEYS[1] base; ARGV[2…] names: of each short name and what it stands for; pages: of each what keepVisit takes
-- Output   nothing
for _ = 1, number() do
  local short, text = arg(), arg()
  keepName(KEYS[1], short, text)
end
for _ = 1, number() do
  local name, record, request = arg(), arg(), arg()
  keepVisit(KEYS[1], name, record, request)
end

-- ack: the owner has read these entries of the inbox, so they are deleted. An entry that a client
-- has written again since stays.
--
-- uses: args base owner
--
-- KEYS      l m i
-- ARGV      1-6 as in README.md; role owner
--           7.. for each entry: id, version
-- returns   {'OK', 0 ...}; or a refusal
-- cost      O(log N) an entry
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 2)
local scores = call('ZMSCORE', INBOX, unpack(ids))
local answer, known = {'OK'}, {}
for k = 1, #ids do
	if scores[k] and math.abs(tonumber(scores[k])) <= tonumber(ARGV[2 * k + 6]) then
		insert(known, ids[k])
	end
	answer[k + 1] = 0
end

touch()
write('ZREM', INBOX, known)
use_up()
return answer

-- ack: deletes entries of the inbox that the owner has read. If a client has written an entry again
-- since, it stays.
--
-- uses: args base owner
--
-- KEYS      l m i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each entry: its id and the version that the owner has read
-- returns   {'OK', 0 ...}; or a refusal
-- cost      O(log N) for each entry
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

-- redelete: deletes again timers that the owner had settled or cancelled, because the shard was set
-- back to an earlier state.
--
-- uses: args base owner remove value
--
-- KEYS      l m z h i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: id and version. The script deletes this version and older ones
-- returns   {'OK', ...} with one item for each timer. 0: the timer was deleted; 2: there is no such
--           timer, or it is a later one; or a refusal
-- cost      O(log N) for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 2)
local values = call('HMGET', VALUES, unpack(ids))
local inbox = call('ZMSCORE', INBOX, unpack(ids))
call('ZCARD', TIMERS)

local answer, told = {'OK'}, {}
for k = 1, #ids do
	local ver = tonumber(ARGV[2 * k + 6])
	local item = ENOENT

	if values[k] then
		local flags, _, v0, v1 = decode(values[k])

		if not flags or v1 * WORD + v0 <= ver then
			remove_timer(ids[k])
			item = 0
		end
	end
	if inbox[k] and math.abs(tonumber(inbox[k])) <= ver then
		insert(told, ids[k])
	end
	answer[k + 1] = item
end

touch()
write_removed()
write('ZREM', INBOX, told)
use_up()
return answer

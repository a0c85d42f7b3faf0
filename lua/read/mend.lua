-- mend: repairs orphans (see orphans.lua). It deletes an entry in TIMERS that has no value. A value
-- without an entry in TIMERS gets one again, and also an entry in the inbox, so that the owner
-- reads it. If the value is damaged, the owner then moves it to the dead letters.
--
-- uses: args base digits owner remove store value
--
-- KEYS      l m z h i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. ids
-- returns   {'OK', ...} with one item for each id. 0: the value has an entry again; 2: an entry was
--           deleted; 1: the id was no orphan; or a refusal
-- cost      O(log N) for each id
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 1)
local values = call('HMGET', VALUES, unpack(ids))
local entries = call('ZMSCORE', TIMERS, unpack(ids))
call('ZCARD', INBOX)

local answer, told = {'OK'}, {}
for k = 1, #ids do
	local item = 1

	if entries[k] and not values[k] then
		remove_timer(ids[k])
		item = ENOENT
	elseif values[k] and not entries[k] then
		local flags, _, v0, v1, d0, d1 = decode(values[k])
		local rank = flags and score(d0, d1) or 1

		insert(scores, digits(flags and flags % 256 == 1 and -rank or rank))
		insert(scores, ids[k])
		insert(told, digits(flags and score(v0, v1) or 1))
		insert(told, ids[k])
		item = 0
	end
	answer[k + 1] = item
end

touch()
write_timers()
write('ZADD', INBOX, told)
use_up()
return answer

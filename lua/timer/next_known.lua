-- next_known: stores recurring timers, whose delivery is over, with their next occurrence, if no
-- client has written them since they were claimed. The owner passes what is to be stored, so the
-- script reads no values.
--
-- uses: args base begin clock inbox keep leave owner topic version
--
-- KEYS      l m z h i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: its new score, id; then for each timer its value at the next
--           occurrence, with the version to use. The ids differ, and the versions grow from each
--           timer to the next
-- returns   {'OK'}: all timers are stored as given; {'LOOK'}: a client has written one of them, or
--           one of them has no timer, or a version cannot be used, or a topic keeps the ends of its
--           timers. No value was changed, and the owner calls next.lua, which reads each value; or
--           a refusal
-- cost      O(log N) and 3 us of server time for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end
local count = (#ARGV - 6) / 3
local VALUE = 6 + 2 * count -- ARGV has the first value behind this place

-- keeps_an_end returns true if the topic of one of these timers keeps ends. The owner may not know
-- this setting yet, so the script looks it up.
local function keeps_an_end()
	for k = VALUE + 1, #ARGV do
		if topic_keep(topic_of(ARGV[k])) > 0 then
			return true
		end
	end
	return false
end

-- are_new returns true if the versions can be used. If the operation was repeated, its versions may
-- be too old.
local function are_new()
	local least = words_of('<I8', ARGV[VALUE + 1], 9)
	local most = words_of('<I8', ARGV[#ARGV], 9)
	return least > last and least >= now() - 2000000 and most <= now() + AHEAD
end

if not are_new() or has_news(8, 2, VALUE) or
	(call('HEXISTS', META, 'keeps') == 1 and keeps_an_end()) then
	return {'LOOK'}
end
call('HLEN', VALUES)
call('ZCARD', TIMERS)

touch()
if call('ZADD', TIMERS, 'XX', 'CH', unpack(ARGV, 7, VALUE)) ~= count then
	return {'LOOK'}
end
call('HSET', VALUES, unpack(with_values(7, count)))
last = words_of('<I8', ARGV[#ARGV], 9)
leave({})
return {'OK'}

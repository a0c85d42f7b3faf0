-- settle_known: deletes timers whose delivery is over, if no client has written them since they
-- were claimed. The owner passes their topics, so the script reads no values.
--
-- uses: base inbox keep owner
--
-- KEYS      l m z h i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. the ids, and then the topic of each id
-- returns   {'OK'}: all timers are deleted; {'LOOK'}: a client has written one of them, or a topic
--           keeps the ends of its timers. Nothing was done, and the owner calls settle.lua, which
--           reads each value; or a refusal
-- cost      O(log N) and 2 us of server time for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end
local last_id = 6 + (#ARGV - 6) / 2

-- keeps_an_end returns true if the topic of one of these timers keeps ends. The owner may not know
-- this setting yet, so the script looks it up.
local function keeps_an_end()
	for k = last_id + 1, #ARGV do
		if topic_keep(ARGV[k]) > 0 then
			return true
		end
	end
	return false
end

if has_news(7, 1, last_id) or (call('HEXISTS', META, 'keeps') == 1 and keeps_an_end()) then
	return {'LOOK'}
end
call('HLEN', VALUES)
call('ZCARD', TIMERS)

touch()
call('ZREM', TIMERS, unpack(ARGV, 7, last_id))
call('HDEL', VALUES, unpack(ARGV, 7, last_id))
use_up()
return {'OK'}

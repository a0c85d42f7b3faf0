-- settle_known: deletes timers whose delivery is over, and which no client has written since they
-- were claimed. The owner tells their topics, so the script reads no values.
--
-- uses: base inbox keep owner
--
-- KEYS      l m z h i
-- ARGV      1-6 as in README.md; role owner
--           7.. ids; then for each its topic
-- returns   {'OK'}: all of them are deleted; {'LOOK'}: a client has written one of them, or a topic
--           keeps the ends of its timers. Nothing was done: the owner calls settle.lua, which reads
--           each of them; or a refusal
-- cost      O(log N) a timer; 2 us of the server
local refusal = owner_enters()
if refusal then
	return refusal
end
local last_id = 6 + (#ARGV - 6) / 2

-- keeps_an_end: is there a topic among these that does? The owner hears a little later of it.
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

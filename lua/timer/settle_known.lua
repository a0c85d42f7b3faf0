-- settle_known: deletes timers whose delivery is over, and which no client has written since they
-- were claimed. Therefore the script reads no values.
--
-- KEYS      the nine of the shard
-- ARGV      1-6 as in README.md; role owner
--           7.. ids
-- returns   {'OK'}: all of them are deleted; {'LOOK'}: a client has written one of them. Nothing
--           was done: the owner calls settle.lua, which reads each of them; or a refusal
-- cost      O(log N) a timer; 1 us of the server
local refusal = owner_enters()
if refusal then
	return refusal
end
if has_news(7, 1) then
	return {'LOOK'}
end
call('HLEN', VALUES)
call('ZCARD', TIMERS)

touch()
call('ZREM', TIMERS, unpack(ARGV, 7))
call('HDEL', VALUES, unpack(ARGV, 7))
use_up()
return {'OK'}

-- settle_known: deliveries are over, and no client has written their timers since they were
-- claimed: so nothing is read here.
--
-- KEYS      the nine of the shard
-- ARGV      1-6 as in README.md; an owner's
--           7.. ids
-- returns   {'OK'}: none of them is there now; {'LOOK'}: a client has: nothing was done, and
--           settle.lua looks at each of them; or a refusal
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

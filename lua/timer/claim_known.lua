-- claim_known: claims timers whose stored values the owner knows, because it has read or written
-- them and no client has written them since. Therefore the script reads no values.
--
-- uses: args base inbox owner
--
-- KEYS      l m z h i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: -score, id; then for each timer its value as claimed. The ids
--           differ
-- returns   {'OK'}: all timers are claimed; {'LOOK'}: a client has written one of the ids, or one
--           of them has no timer or is already claimed. No value was changed, and the owner calls
--           claim.lua, which reads each value; or a refusal
-- cost      O(log N) and 2 us of server time for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end
local count = (#ARGV - 6) / 3
if has_news(8, 2, 6 + 2 * count) then
	return {'LOOK'}
end
call('HLEN', VALUES)
call('ZCARD', TIMERS)

touch()
if call('ZADD', TIMERS, 'XX', 'CH', unpack(ARGV, 7, 6 + 2 * count)) ~= count then
	return {'LOOK'}
end
call('HSET', VALUES, unpack(with_values(7, count)))
use_up()
return {'OK'}

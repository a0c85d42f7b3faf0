-- claim_known: claims timers whose stored values the owner knows, because it has read or written
-- them and no client has written them since. Therefore the script reads no values.
--
-- uses: args base inbox owner
--
-- KEYS      l m z h i
-- ARGV      1-6 as in README.md; role owner
--           7.. for each timer: -score, id; then for each: the value as claimed. Ids differ
-- returns   {'OK'}; {'LOOK'}: a client has written one of the ids, or one has no timer, or is
--           claimed already. No value was changed: the owner calls claim.lua, which reads each of
--           them; or a refusal
-- cost      O(log N) a timer; 2 us of the server
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

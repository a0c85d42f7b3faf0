-- forget: deletes the oldest dead letters, at most 64 in a call, as long as there are too many or
-- they are too old.
--
-- uses: base owner
--
-- KEYS      l m d D e
-- ARGV      1-6 as README.md says; the role is owner
--           7 the number of letters that may be kept
--           8 a time (us): letters that died before it are too old
-- returns   {'OK', number of deleted letters, number of letters left}; or a refusal
-- cost      O(log N) for each letter
local refusal = owner_enters()
if refusal then
	return refusal
end

local count, kept, oldest = call('ZCARD', DEAD), tonumber(ARGV[7]), tonumber(ARGV[8])
local names = call('ZRANGE', DEAD, 0, 63)
local letters = names[1] and call('HMGET', LETTERS, unpack(names))
local dropped = {}
call('ZCARD', NAMES)
for k, name in ipairs(names) do
	local letter = letters[k]
	local at = letter and #letter >= 16 and words_of('<i8', letter, 9) or -math.huge

	if count - #dropped <= kept and at >= oldest then
		break
	end
	insert(dropped, name)
end

touch()
write('ZREM', DEAD, dropped)
write('HDEL', LETTERS, dropped)
write('ZREM', NAMES, dropped)
use_up()
return {'OK', #dropped, count - #dropped}

-- drop: deletes dead letters.
--
-- KEYS      the nine of the shard
-- ARGV      1-6 as in README.md; role owner or client
--           7 id ('': all letters)   8 version (0: each of the id)
-- returns   {'OK', how many}; or a refusal
-- cost      O(log N) a letter; all of them: in the background
local refusal = enter()
if refusal then
	return refusal
end

local id, ver = ARGV[7], tonumber(ARGV[8])
local count = call('ZCARD', DEAD)
call('HLEN', LETTERS)
call('ZCARD', NAMES)

touch()
if id == '' then
	call('UNLINK', DEAD, LETTERS, NAMES)
else
	local names = {letter_name(id, ver)}
	if ver == 0 then
		names = call('ZRANGEBYLEX', NAMES, '[' .. id .. '\0', '(' .. id .. '\1')
	end
	count = 0
	for _, name in ipairs(names) do
		count = count + call('ZREM', DEAD, name)
		call('HDEL', LETTERS, name)
		call('ZREM', NAMES, name)
	end
end
leave({})
return {'OK', count}

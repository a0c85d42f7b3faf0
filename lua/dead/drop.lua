-- drop: deletes dead letters.
--
-- uses: base enter letters newer owner
--
-- KEYS      l m d D e s:NONCE
-- ARGV      1-6 as README.md says; the role is owner or client
--           7.. for each drop: the id ('': all letters) and the version (0: every letter of the id)
-- returns   {'OK', ...} with one item for each drop: the number of letters that it has deleted; or
--           'NEWER': one of its letters is, or may be, of a later version, and the drop has deleted
--           none; or a refusal
-- cost      O(log N) for each letter. If all letters are deleted, it is O(1), and the memory is
--           freed in the background
local refusal = enter()
if refusal then
	return refusal
end

call('ZCARD', DEAD)
call('HLEN', LETTERS)
call('ZCARD', NAMES)

local function drop_all()
	if may_have_newer() then
		return 'NEWER'
	end
	local count = call('ZCARD', DEAD)
	call('UNLINK', DEAD, LETTERS, NAMES)
	return count
end

local function drop(id, ver)
	local names = {letter_name(id, ver)}
	if ver == 0 then
		names = call('ZRANGEBYLEX', NAMES, '[' .. id .. '\0', '(' .. id .. '\1')
	end
	for _, name in ipairs(names) do
		if is_newer(sub(call('HGET', LETTERS, name) or '', 18)) then
			return 'NEWER'
		end
	end
	local count = 0
	for _, name in ipairs(names) do
		count = count + call('ZREM', DEAD, name)
		call('HDEL', LETTERS, name)
		call('ZREM', NAMES, name)
	end
	return count
end

touch()
local answer = {'OK'}
for k = 7, #ARGV, 2 do
	insert(answer, ARGV[k] == '' and drop_all() or drop(ARGV[k], tonumber(ARGV[k + 1])))
end
use_up()
return answer

-- drop: deletes dead letters.
--
-- uses: base enter letters newer owner
--
-- KEYS      l m d D e s:NONCE
-- ARGV      1-6 as in README.md; role owner or client
--           7.. for each drop: id ('': all letters), version (0: every letter of the id)
-- returns   {'OK', ...}: the number of letters that each drop has deleted; 'NEWER': one of them is
--           of a later version, and this drop has deleted none; or a refusal
-- cost      O(log N) a letter; all letters: in the background
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

-- dead_of: returns the last dead letter of an id. The script only reads.
--
-- uses: base
--
-- KEYS      d D e
-- ARGV      1 id
-- returns   {'OK', member, score, letter or false}, as dead_page does; {'OK'}: the id has no dead
--           letter
-- cost      O(log N)
local name = call('ZREVRANGEBYLEX', NAMES, '(' .. ARGV[1] .. '\1', '[' .. ARGV[1] .. '\0',
	'LIMIT', 0, 1)[1]
if not name then
	return {'OK'}
end
return {'OK', name, call('ZSCORE', DEAD, name) or '0', call('HGET', LETTERS, name)}

-- types: the Redis type of each key. A key of another type than ours was written by another
-- program. Reads only.
--
-- uses: base ends
--
-- KEYS      the nine of the shard
-- ARGV      none
-- returns   {type, ...}; at the end of the ends and of their times; 'none' for a key that does not
--           exist
-- cost      O(1)
local types = {}
for k = 1, #KEYS do
	types[k] = call('TYPE', KEYS[k]).ok
end
for _, key in ipairs({ENDS, UNTILS}) do
	insert(types, call('TYPE', key).ok)
end
return types

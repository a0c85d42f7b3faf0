-- types: the Redis type of each key. A key of another type than ours was written by another
-- program. Reads only.
--
-- KEYS      the nine of the shard
-- ARGV      none
-- returns   {type, ...}, of the index by topic at the end; 'none' for a key that does not exist
-- cost      O(1)
local types = {}
for k = 1, #KEYS do
	types[k] = call('TYPE', KEYS[k]).ok
end
types[#KEYS + 1] = call('TYPE', INDEX).ok
return types

-- types: what each key is, in Redis' words; what has another type than ours, somebody else has
-- written. Reads only.
--
-- KEYS      the nine of the shard
-- ARGV      none
-- returns   {type, ...}, 'none' if there is no such key
-- cost      O(1)
local types = {}
for k = 1, #KEYS do
	types[k] = call('TYPE', KEYS[k]).ok
end
return types

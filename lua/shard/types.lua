-- types: returns the Redis type of each key. If a key has another type than ours, another program
-- has written it. The script only reads.
--
-- uses: base
--
-- KEYS      l m z h i d D e s:NONCE E x t u n o O R
-- ARGV      none
-- returns   {type, ...}; 'none' for a key that does not exist
-- cost      O(1)
local types = {}
for k = 1, #KEYS do
	types[k] = call('TYPE', KEYS[k]).ok
end
return types

-- shard: the shard of an id; for people.
--
-- uses: base hand
--
-- KEYS      1 the lease of any shard of the namespace, 2 its meta, for example {orders:00}:l and :m
-- ARGV      1 id
-- returns   the number as it is in the keys, for example 07
-- cost      O(1)
local count = call('HGET', META, 'shards')
if not count then
	return redis.error_reply('ERR there is no ' .. META .. '; start its owner once')
end
return string.format('%02d', shard_of(ARGV[1], tonumber(count)))

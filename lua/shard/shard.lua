-- shard: returns the shard of an id. The script is for people.
--
-- uses: base shard_of
--
-- KEYS      m
-- ARGV      1 id
-- returns   the number as it stands in the keys, for example 07
-- cost      O(1)
local count = call('HGET', META, 'shards')
if not count then
	return redis.error_reply(string.format('ERR there is no %s; start its owner once', META))
end
return string.format('%02d', shard_of(ARGV[1], tonumber(count)))

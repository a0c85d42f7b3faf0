-- release: the owner gives the lease back.
--
-- KEYS      the nine of the shard
-- ARGV      1 token
-- returns   {'OK', 1}; {'OK', 0}: it was not the caller's any more
-- cost      O(1)
if call('GET', LEASE) ~= ARGV[1] then
	return {'OK', 0}
end

call('HDEL', META, 'holder') -- without one a late renew does not take it again
call('DEL', LEASE)
return {'OK', 1}

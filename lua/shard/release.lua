-- release: the owner gives the lease back.
--
-- KEYS      the nine of the shard
-- ARGV      1 token   2 the later version of a timer's record, which it does not understand, and
--           gives the lease back for that: it stays in META; may be left out, or ''
-- returns   {'OK', 1}; {'OK', 0}: it was not the caller's any more
-- cost      O(1). Over maxmemory, too: it begins with a write that needs no memory
if call('GET', LEASE) ~= ARGV[1] then
	return {'OK', 0}
end

call('HDEL', META, 'holder') -- without one a late renew does not take it again
if (ARGV[2] or '') ~= '' then
	call('HSET', META, 'format', ARGV[2])
end
call('DEL', LEASE)
return {'OK', 1}

-- release: the owner gives the lease back.
--
-- uses: base
--
-- KEYS      l m
-- ARGV      1 token
--           2 may be left out, or '': the version of a record that the owner does not understand.
--           This is then the reason for the release, and META keeps the version
-- returns   {'OK', 1}; {'OK', 0}: the lease was no longer the caller's
-- cost      O(1). Works over maxmemory, because its first write needs no memory
if call('GET', LEASE) ~= ARGV[1] then
	return {'OK', 0}
end

call('HDEL', META, 'holder', 'fire') -- without a holder, a late renew does not take the lease again
if (ARGV[2] or '') ~= '' then
	call('HSET', META, 'format', ARGV[2])
end
call('DEL', LEASE)
return {'OK', 1}

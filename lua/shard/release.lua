-- release: the owner gives the lease back.
--
-- An owner that gives a shard to another one names the era, its last number and the last version
-- that it has read in the inbox. Then nothing of the shard is claimed, and no command of it is
-- under way. If the shard is not what the owner knows, nothing is done.
--
-- uses: base
--
-- KEYS      l m
-- ARGV      1 token
--           2 may be left out, or '': the version of a record that the owner does not understand.
--           This is then the reason for the release, and META keeps the version
--           3 era, may be left out, or ''   4 number of the last operation, with an era
--           5 highest version that was read in the inbox, or '', with an era
--           6 may be left out, or '': the channel on which the number of the shard is published
-- returns   {'OK', 1}; {'OK', 0}: the lease was no longer the caller's;
--           {'ERA', era or '', last fence or 0}, with an era: the shard was emptied or set back, or
--           another owner was here
-- cost      O(1). Works over maxmemory, because its first write needs no memory
local lease = call('GET', LEASE)
local meta = call('HMGET', META, 'era', 'mark', 'ver', 'fence', 'holder', 'conn')
local gives = (ARGV[3] or '') ~= ''

-- is_mine: a lease that has run out is the caller's as long as nobody has taken the shard. A later
-- connection of the caller may have had it: then this command came late.
local function is_mine()
	local fence, conn = string.match(ARGV[1], '^(%d+):.*:(%d+)$')
	if lease then
		return lease == ARGV[1]
	end
	return meta[4] == fence and meta[5] and (tonumber(meta[6]) or 0) <= tonumber(conn)
end

-- is_same: the shard has everything that the caller knows.
local function is_same()
	return meta[1] == ARGV[3] and meta[2] == ARGV[4] and
		(tonumber(meta[3]) or 0) >= (tonumber(ARGV[5]) or 0)
end

if gives and not (is_mine() and is_same()) then
	return {'ERA', meta[1] or '', meta[4] or 0}
end
if not gives and lease ~= ARGV[1] then
	return {'OK', 0}
end

call('HDEL', META, 'holder', 'fire') -- without a holder, a late renew does not take the lease again
if (ARGV[2] or '') ~= '' then
	call('HSET', META, 'format', ARGV[2])
end
if gives then
	call('HSET', META, 'acked', meta[3] or '0') -- nothing of before starts any more
end
call('DEL', LEASE)
if (ARGV[6] or '') ~= '' then
	call('PUBLISH', ARGV[6], string.match(META, ':(%d+)}:'))
end
return {'OK', 1}

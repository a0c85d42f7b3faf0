-- release: gives the owner's lease back.
--
-- An owner that gives a shard to another owner passes the era, its last number and the last version
-- that it has read in the inbox. At this time no claim of the shard may start any more, and no
-- command for it is under way. If the shard is not as the owner knows it, the script does nothing.
--
-- A peer that ends removes its mark from the format, so that an older library may own the shard
-- again.
--
-- uses: base newer
--
-- KEYS      l m
-- ARGV      1 token
--           2 the version of a record that the owner does not understand, or ''; may be left out.
--           This version is then the reason for the release, and META keeps it
--           3 era, or ''; may be left out   4 with an era: number of the last operation
--           5 with an era: the highest version that was read in the inbox, or ''
--           6 the channel on which the number of the shard is published, or ''; may be left out
-- returns   {'OK', 1}: the lease was given back; {'OK', 0}: the caller no longer had the lease;
--           {'ERA', era or '', last fence or 0, ARGV 7 of the last acquire.lua or ''}, only with an
--           era: the shard was emptied or set back, or another owner was here
-- cost      O(1). The script works over maxmemory, because its first write needs no memory
local lease = call('GET', LEASE)
local meta = call('HMGET', META, 'era', 'mark', 'ver', 'fence', 'holder', 'conn', 'format',
	'asked')
local gives = (ARGV[3] or '') ~= ''

-- is_mine returns true if the caller has the shard. A lease that has run out counts as the caller's
-- as long as nobody has taken the shard. If a later connection of the caller has had the lease,
-- this command came late, and is_mine returns false.
local function is_mine()
	local fence, conn = string.match(ARGV[1], '^(%d+):.*:(%d+)$')
	if lease then
		return lease == ARGV[1]
	end
	return meta[4] == fence and meta[5] and (tonumber(meta[6]) or 0) <= tonumber(conn)
end

-- is_same returns true if the shard has everything that the caller knows.
local function is_same()
	return meta[1] == ARGV[3] and meta[2] == ARGV[4] and
		(tonumber(meta[3]) or 0) >= (tonumber(ARGV[5]) or 0)
end

if gives and not (is_mine() and is_same()) then
	return {'ERA', meta[1] or '', meta[4] or 0, meta[8] or ''}
end
if not gives and lease ~= ARGV[1] then
	return {'OK', 0}
end

call('HDEL', META, 'holder', 'fire') -- without a holder, a late renew does not take the lease again
if (ARGV[2] or '') ~= '' then
	call('HSET', META, 'format', ARGV[2])
elseif not gives and meta[7] == RECORD .. SHARED then
	call('HSET', META, 'format', RECORD)
end
if gives then
	call('HSET', META, 'acked', meta[3] or '0') -- each change up to this version is certain
end
call('DEL', LEASE)
if (ARGV[6] or '') ~= '' then
	call('PUBLISH', ARGV[6], string.match(META, ':(%d+)}:'))
end
return {'OK', 1}

-- tell: stores the numbers of a peer. They are in the first shard, as the list of the peers is.
--
-- uses: base clock
--
-- KEYS      o R
-- ARGV      1 the peer   2 'r': its report, 't': its numbers of topics   3 now (us)   4 the text
-- returns   {'OK'}; {'NONE'}: the peer is not in the list, so nothing is stored
-- cost      O(1). The script works over maxmemory, because its first write needs no memory
local at = call('ZSCORE', MEMBERS, ARGV[1])
if not at or tonumber(at) <= now() then
	return {'NONE'}
end
call('HDEL', REPORTS, ARGV[2] .. ':' .. ARGV[1])
call('HSET', REPORTS, ARGV[2] .. ':' .. ARGV[1], ARGV[3] .. ' ' .. ARGV[4])
return {'OK'}

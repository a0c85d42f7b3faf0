-- renew: extends the lease, perhaps under a new token. A new connection takes a new token, so that
-- the server refuses commands that are left in the socket of an older connection.
--
-- If the lease has run out, the caller gets it again, unless somebody has had it since. But a
-- connection that is older than the last one with the lease is refused, because its socket was
-- lost, and this command came late.
--
-- uses: base clock digits
--
-- KEYS      l m z h i d E x t
-- ARGV      1 old token   2 new token, or the same   3 ttl (ms)   4 era
-- returns   {'OK', number of the owner's last operation, last version or '', now (us), number of
--           entries in the inbox, of dead letters, of entries in TIMERS and of values, a number
--           that is different after each change of the settings of topics, the last number with a
--           put that a pause has refused or '0'};
--           {'ERA', era or '', last fence or 0, ARGV 7 of the last acquire.lua or ''}: the shard
--           was emptied, another owner was here, or the lease was released;
--           {'HELD', token, ms left, holder or '', era or ''}: another token has the lease, or a
--           later connection had it
-- cost      O(1). The script works over maxmemory

-- forget_ends drops some ends that have expired. If a key has a wrong type, it does nothing, and
-- the owner keeps its lease.
local function forget_ends()
	local old = redis.pcall('ZRANGEBYSCORE', UNTILS, '-inf', digits(now()), 'LIMIT', 0, 64)
	if old[1] then
		redis.pcall('HDEL', ENDS, unpack(old))
		redis.pcall('ZREM', UNTILS, unpack(old))
	end
end

-- count returns the size of a key. If the key has a wrong type, it returns 0, and the owner keeps
-- its lease.
local function count(command, key)
	local number = redis.pcall(command, key)
	return type(number) == 'number' and number or 0
end

local lease = call('GET', LEASE)
local meta = call('HMGET', META, 'era', 'mark', 'ver', 'fence', 'holder', 'conn',
	'topics', 'refused', 'asked')
local held = lease == ARGV[1] or lease == ARGV[2]
local conn = string.match(ARGV[2], '%d*$')

if lease and not held then
	return {'HELD', lease, call('PTTL', LEASE), meta[5] or '', meta[1] or ''}
end
local mine = held or (meta[4] == string.match(ARGV[1], '^%d+') and meta[5])
if not mine or meta[1] ~= ARGV[4] then
	return {'ERA', meta[1] or '', meta[4] or 0, meta[9] or ''}
end

if not held and (tonumber(conn) or 0) < (tonumber(meta[6]) or 0) then
	return {'HELD', '', 0, meta[5], meta[1]}
end

call('PEXPIRE', LEASE, ARGV[3])
if lease ~= ARGV[2] then
	call('SET', LEASE, ARGV[2], 'PX', ARGV[3])
	call('HSET', META, 'conn', conn)
end
forget_ends()
return {'OK', meta[2] or '', meta[3] or '', digits(now()), count('ZCARD', INBOX),
	count('ZCARD', DEAD), count('ZCARD', TIMERS), count('HLEN', VALUES),
	digits((meta[7] or 0) * 4096 + count('HLEN', TOPICS)), meta[8] or '0'}

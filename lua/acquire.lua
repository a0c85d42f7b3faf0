-- acquire: takes the lease of a shard, so that the caller becomes its owner.
--
-- KEYS      the nine of the shard
-- ARGV      1 nonce   2 conn   3 ttl of the lease (ms)   4 floor: the highest fence or version that
--           the caller knows, or 0   5 holder: who takes it, in words   6 shards of the namespace
--           7 the era, if the shard is new   8 a token that may be replaced, because its holder is
--           known to be dead, or is the caller, which then reads the inbox on; others begin with an
--           empty one, because they read all; or ''
--           9 '1': the shard was emptied, or set back, under this owner, which reads the inbox on,
--           and whose number of shards stands, whatever a client has made of it, if no other owner
--           was here
-- returns   {'OK', token, era, last version or '', now (us), entries in the inbox, dead letters,
--           shards as a client had it, or ''};
--           {'HELD', token, ms left, holder or '', era or ''};
--           {'SHARDS', how many the namespace has}
-- cost      O(1). Over maxmemory, too: it begins with a write that needs no memory
local lease = call('GET', LEASE)
local meta = call('HMGET', META, 'fence', 'era', 'ver', 'shards', 'holder')
if lease and lease ~= ARGV[8] then
	return {'HELD', lease, call('PTTL', LEASE), meta[5] or '', meta[2] or ''}
end
local stands = ARGV[9] == '1' and not meta[1]
if meta[4] and meta[4] ~= ARGV[6] and not stands then
	return {'SHARDS', meta[4]}
end
local entries, letters = call('ZCARD', INBOX), call('ZCARD', DEAD)
call('ZCARD', TIMERS)
call('HLEN', VALUES)
call('HLEN', LETTERS)
call('ZCARD', NAMES)

local time = time_us()
local number = digits(math.max(tonumber(meta[1] or 0) + 1, time, tonumber(ARGV[4])))
local token = number .. ':' .. ARGV[1] .. ':' .. ARGV[2]
local era = meta[2] or ARGV[7]

call('HDEL', META, 'holder')
if ARGV[9] ~= '1' and (not lease or string.match(lease, ':([^:]*):') ~= ARGV[1]) then
	call('UNLINK', INBOX)
end
call('SET', LEASE, token, 'PX', ARGV[3])
call('HSET', META, 'fence', number, 'mark', 0, 'holder', ARGV[5], 'since', digits(time),
	'shards', ARGV[6], 'era', era)
return {'OK', token, era, meta[3] or '', digits(time), entries, letters, meta[4] or ''}

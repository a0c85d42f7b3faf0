-- acquire: takes the lease of a shard, so that the caller becomes its owner.
--
-- KEYS      the nine of the shard
-- ARGV      1 nonce   2 conn   3 ttl of the lease (ms)   4 floor: the highest fence or version that
--           the caller knows of this shard, or 0; no later one is below it, even if the server's
--           clock went back   5 holder: who takes it, in words   6 shards of the namespace
--           7 the era, if the shard is new   8 a token that may be replaced, because its holder is
--           known to be dead, or is the caller, which then reads the inbox on; others begin with an
--           empty one, because they read all; or ''
--           9 the era that the caller owned until the shard was emptied, or set back, under it, or
--           ''. It reads the inbox on. Its number of shards stands, whatever a client has made of
--           it, if no other owner was here since. In another era all that clients have written
--           is later than what the caller knows
-- returns   {'OK', token, era, last version, now (us), entries in the inbox, dead letters,
--           shards as a client had it, or ''};
--           {'HELD', token, ms left, holder or '', era or ''};
--           {'SHARDS', how many the namespace has};
--           {'NEWER', format}: the shard has, or had, a timer of a later version
-- cost      O(1), and O(log N) for each entry of the inbox of an emptied shard. Over maxmemory,
--           too: it begins with a write that needs no memory
local lease = call('GET', LEASE)
local meta = call('HMGET', META, 'fence', 'era', 'ver', 'shards', 'holder', 'format')
if lease and lease ~= ARGV[8] then
	return {'HELD', lease, call('PTTL', LEASE), meta[5] or '', meta[2] or ''}
end
if is_later(meta[6]) then
	return {'NEWER', meta[6]}
end
local again = (ARGV[9] or '') ~= ''
local stands = again and not meta[1]
if meta[4] and meta[4] ~= ARGV[6] and not stands then
	return {'SHARDS', meta[4]}
end
local entries, letters = call('ZCARD', INBOX), call('ZCARD', DEAD)
call('ZCARD', TIMERS)
call('HLEN', VALUES)
call('HLEN', LETTERS)
call('ZCARD', NAMES)

local time, floor = time_us(), tonumber(ARGV[4])
local number = digits(math.max(tonumber(meta[1] or 0) + 1, time, floor))
local ver = digits(math.max(tonumber(meta[3]) or 0, floor))
local token = number .. ':' .. ARGV[1] .. ':' .. ARGV[2]
local era = meta[2] or ARGV[7]

-- renumber: the clients' writes get versions above the floor. If the clock of the emptied server is
-- behind the one before, the owner would write its older timers over them.
local function renumber()
	local written = call('ZRANGE', INBOX, 0, -1, 'WITHSCORES')
	begin(ver, ARGV[6])
	for k = 1, #written, 2 do
		local id, sign = written[k], tonumber(written[k + 1]) < 0 and -1 or 1
		local value = call('HGET', VALUES, id)
		local flags, attempt, _, _, d0, d1, c0, c1, crc = decode(value or '')
		local v0, v1 = halves(next_ver(''))
		if flags then
			local header = encode(flags, attempt, v0, v1, d0, d1, c0, c1, crc)
			call('HSET', VALUES, id, header .. sub(value, BODY))
		end
		call('ZADD', INBOX, digits(sign * last), id)
	end
	ver = digits(last)
end

call('HDEL', META, 'holder')
if again and meta[2] ~= ARGV[9] then
	renumber()
end
if not again and (not lease or string.match(lease, ':([^:]*):') ~= ARGV[1]) then
	call('UNLINK', INBOX)
end
call('SET', LEASE, token, 'PX', ARGV[3])
call('HSET', META, 'fence', number, 'ver', ver, 'mark', 0, 'holder', ARGV[5],
	'since', digits(time), 'shards', ARGV[6], 'era', era, 'conn', ARGV[2])
return {'OK', token, era, ver, digits(time), entries, letters, meta[4] or ''}

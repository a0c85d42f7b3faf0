-- acquire: takes the lease of a shard, so that the caller becomes its owner.
--
-- The inbox is kept if the caller replaces its own token or passes ARGV 9. Otherwise it is emptied,
-- because a new owner reads all timers.
--
-- uses: base begin clock digits newer value version
--
-- KEYS      l m z h i d D e k
-- ARGV      1 nonce   2 conn   3 ttl of the lease (ms)
--           4 floor: the highest fence or version of this shard that the caller knows, or 0. The
--           new fence and all later versions are not below it, even if the server's clock went back
--           5 holder: a description of the caller   6 the number of shards of the namespace
--           7 the era to set if the shard is new. META also keeps it as the name of this
--           acquisition
--           8 a token that may be replaced, or ''. Its holder is the caller, or is known to be dead
--           9 the era in which the caller owned the shard until it was emptied or set back, or ''.
--           If no other owner was here since, the caller's number of shards replaces one that a
--           client has set. If the shard has another era now, everything that clients have written
--           gets versions above the floor
--           10 '1': the caller starts timers while it is cut off; may be left out
--           11 '1': if another process has the lease, the caller stands by; may be left out.
--           status.lua then shows the caller for 5 s
--           12 the shard's last fence as the caller saw it; may be left out, or ''. If the shard
--           still has the era of ARGV 9, but another fence, another owner was here since
--           13 the server's run_id; may be left out, or ''
--           14 for how long the server is known to be up (ms). It may be left out, or '', if nobody
--           else can have had the shard since the caller was its owner
--           15 1: the caller is a peer; may be left out
--           16 how long (us) a shard that was emptied is left to the peer that knows its timers;
--           may be left out, or '0'. It counts from the first caller that wanted the shard
-- returns   {'OK', token, era, last version, now (us), number of entries in the inbox, number of
--           dead letters, number of shards before the call or '', 'version:step' or ''}. A claim of
--           a version up to that one raises the attempt by the step;
--           {'HELD', token or '', ms left, holder or '', era or '', last fence or '0', ARGV 7 of
--           the last acquisition or ''}: another token has the lease, or the shard has another
--           fence than ARGV 12;
--           {'YOUNG', ms left}: the server may have forgotten the last acquisition. It has not been
--           up for the longest lease yet, and the shard was not acquired since it started. Or it
--           was emptied, and the time of ARGV 16 has not passed;
--           {'SHARDS', number of shards}: the namespace has another number of shards;
--           {'NEWER', format}: the shard has, or had, a timer of a later version
-- cost      O(1), and O(log N) for each entry in the inbox of an emptied shard. The script works
--           over maxmemory, because its first write needs no memory
local lease = call('GET', LEASE)
local meta = call('HMGET', META, 'fence', 'era', 'ver', 'shards', 'holder', 'format', 'fire',
	'jump', 'stood', 'asked', 'run', 'longest', 'empty')
local again = (ARGV[9] or '') ~= ''
local is_other = again and meta[2] == ARGV[9] and (ARGV[12] or '') ~= '' and meta[1] ~= ARGV[12]
if is_other or (lease and lease ~= ARGV[8]) then
	if ARGV[11] == '1' and lease and meta[1] and
		math.abs(now() - (tonumber(meta[9]) or 0)) > 2000000 then
		redis.pcall('HSET', META, 'standby', ARGV[5], 'stood', digits(now()))
	end
	return {'HELD', lease or '', lease and call('PTTL', LEASE) or 0, meta[5] or '',
		meta[2] or '', meta[1] or '0', meta[10] or ''}
end
local run = ARGV[13] or ''
local longest = math.max(tonumber(ARGV[3]), tonumber(meta[12]) or 0)
local age = tonumber(ARGV[14]) or longest
if meta[1] and run ~= '' and run ~= meta[11] and age < longest then
	return {'YOUNG', longest - age}
end
if is_later(meta[6]) then
	return {'NEWER', meta[6]}
end
local left = tonumber(ARGV[16] or '') or 0
if not meta[1] and left > 0 then
	local since = tonumber(meta[13])
	if not since or since > now() then
		since = now()
		call('HDEL', META, 'empty') -- needs no memory
		call('HSET', META, 'empty', digits(since))
	end
	if now() < since + left then
		return {'YOUNG', math.ceil((since + left - now()) / 1000)}
	end
end
local stands = again and not meta[1]
if meta[4] and meta[4] ~= ARGV[6] and not stands then
	return {'SHARDS', meta[4]}
end
local entries, letters = call('ZCARD', INBOX), call('ZCARD', DEAD)
call('ZCARD', TIMERS)
call('HLEN', VALUES)
call('HLEN', LETTERS)
call('ZCARD', NAMES)

local floor = tonumber(ARGV[4])
local number = digits(math.max(tonumber(meta[1] or 0) + 1, now(), floor))
local ver = digits(math.max(tonumber(meta[3]) or 0, floor))
local token = number .. ':' .. ARGV[1] .. ':' .. ARGV[2]
local era = meta[2] or ARGV[7]

-- renumber gives the clients' writes versions above the floor. Otherwise, if the clock of the
-- emptied server is behind, the owner would overwrite these writes with its older timers.
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

-- drop_journals forgets journals that have replayed nothing for 90 days. If the file of such a
-- journal came back, its rows could be replayed twice.
local function drop_journals()
	local fields = call('HSCAN', META, 0, 'MATCH', 'j:*', 'COUNT', 1000)[2]
	for k = 1, #fields, 2 do
		if tonumber(fields[k + 1]) < now() - 90 * 86400000000 then
			call('HDEL', META, fields[k])
		end
	end
end

call('HDEL', META, 'holder', 'standby', 'stood', 'refused', 'empty')
if meta[5] then
	call('HDEL', META, 'acked') -- the last owner has not released the shard
end
if again and meta[2] ~= ARGV[9] then
	renumber()
end
if not again and (not lease or string.match(lease, ':([^:]*):') ~= ARGV[1]) then
	call('UNLINK', INBOX)
end
call('UNLINK', INDEX)
call('SET', LEASE, token, 'PX', ARGV[3])
-- `format` keeps out older libraries, which have no recurring timers, or know no peers.
call('HSET', META, 'fence', number, 'before', meta[1] or '0', 'ver', ver, 'mark', 0,
	'holder', ARGV[5], 'since', digits(now()), 'shards', ARGV[6], 'era', era,
	'conn', ARGV[2], 'format', RECORD .. (ARGV[15] == '1' and SHARED or ''),
	'asked', ARGV[7], 'run', run, 'longest', longest)
-- If the last owner starts timers while it is cut off, and has not released the shard, it may have
-- given attempts that Redis does not know to versions up to now. Each such owner may have used 15
-- attempts more than the owner before it.
local jump = meta[8]
if meta[7] and meta[7] ~= ARGV[1] then
	jump = ver .. ':' .. (string.match(jump or '', ':(%d+)') or 0) + 16
	call('HSET', META, 'jump', jump)
end
if ARGV[10] == '1' then
	call('HSET', META, 'fire', ARGV[1])
else
	call('HDEL', META, 'fire')
end
if meta[7] then
	call('HDEL', META, 'late') -- confirm.lua answers 3 for older changes: the fence is new
end
drop_journals()
return {'OK', token, era, ver, digits(now()), entries, letters, meta[4] or '', jump or ''}

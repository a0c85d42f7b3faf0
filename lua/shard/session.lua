-- session: a client begins to write, or begins a new connection, or lives on.
--
-- KEYS      the nine of the shard
-- ARGV      1 conn, growing with each connection of the client   2 ttl of the session (ms)
--           3 shards of the namespace as the client knows it, or ''   4 '1': if the shard has no
--           number of them, this is it   5 the channel to wake the owner on, or ''
-- returns   {'OK', last number applied (0: the session is new), last version or '', now (us),
--           shards or '', the conn before this one (0: the session is new), the conn that has
--           made the session}; {'NOSESSION'}: a later connection was here; {'SHARDS', how many};
--           {'NEW', how many listen on the channel}: nothing was done. Whoever listens is an owner
--           whose shard was emptied, and has noticed it now
-- cost      O(1). Over maxmemory, too
local session = call('HMGET', SESSION, 'conn', 'last', 'first')
local meta = call('HMGET', META, 'ver', 'shards')
local count = meta[2] or ARGV[3]
local done = session[2] or '0'
local first = session[3] or ARGV[1]

if session[1] and tonumber(session[1]) > tonumber(ARGV[1]) then
	return {'NOSESSION'}
end
if ARGV[3] ~= '' and count ~= ARGV[3] then
	return {'SHARDS', count}
end
if ARGV[3] ~= '' and not meta[2] and ARGV[4] ~= '1' then
	return {'NEW', ARGV[5] and ARGV[5] ~= '' and
		call('PUBLISH', ARGV[5], string.match(LEASE, ':(%d+)}:')) or 0}
end

call('PEXPIRE', SESSION, ARGV[2])
call('HSET', SESSION, 'conn', ARGV[1], 'last', done, 'first', first)
call('PEXPIRE', SESSION, ARGV[2])
if not meta[2] and count ~= '' then
	call('HSET', META, 'shards', count)
end
return {'OK', done, meta[1] or '', digits(time_us()), count, session[1] or '0',
	first}

-- session: begins a client's session, moves it to a new connection, or extends it.
--
-- uses: base clock digits
--
-- KEYS      m s:NONCE
-- ARGV      1 conn, which grows with each connection of the client   2 ttl of the session (ms)
--           3 the number of shards of the namespace as the client knows it, or ''
--           4 '1': if the shard has no number of shards, set it to ARGV 3
--           5 the channel to wake the owner on, or ''   6 who the client is, 'HOST, pid N, ...'
-- returns   {'OK', last number applied (0: the session is new), last version or '', now (us),
--           number of shards or '', the conn before this one (0: the session is new), the conn that
--           began the session, the last number with a put that a pause has refused or '0'};
--           {'NOSESSION'}: a later connection has the session;
--           {'SHARDS', number of shards}: the namespace has another number of shards;
--           {'NEW', subscribers of the channel}: the shard has no number of shards. The script has
--           only woken the subscribers. A subscriber is an owner whose shard was emptied
-- cost      O(1). The script works over maxmemory
local session = call('HMGET', SESSION, 'conn', 'last', 'first', 'refused')
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
		call('PUBLISH', ARGV[5], string.match(META, ':(%d+)}:')) or 0}
end

call('PEXPIRE', SESSION, ARGV[2])
call('HSET', SESSION, 'conn', ARGV[1], 'last', done, 'first', first, 'who', ARGV[6] or '')
call('PEXPIRE', SESSION, ARGV[2])
if not meta[2] and count ~= '' then
	call('HSET', META, 'shards', count)
end
return {'OK', done, meta[1] or '', digits(now()), count, session[1] or '0',
	first, session[4] or '0'}

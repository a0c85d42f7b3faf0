-- enter: begins a script that an owner or a client may call.
--
-- uses: base begin owner

local function client_enters()
	local session = call('HMGET', SESSION, 'conn', 'last')
	local meta = call('HMGET', META, 'ver', 'shards', 'closed')
	if session[1] ~= ARGV[2] or not meta[2] or ARGV[3] ~= '' and meta[2] ~= ARGV[3] then
		return {'NOSESSION'}
	end
	if tonumber(session[2]) ~= ARGV[4] - 1 then
		return {'MARK', session[2] or ''}
	end
	guard = SESSION
	begin(meta[1], meta[2], meta[3])
	return nil
end

local function enter()
	if owner then
		return owner_enters()
	end
	return client_enters()
end

-- owner: how an owner's script begins, its first write, and how it ends.
--
-- uses: base begin

-- owner_enters: checks an owner's token, era and number. Returns nil, or the refusal to answer.
local function owner_enters()
	if call('GET', LEASE) ~= ARGV[2] then
		return {'FENCED'}
	end
	local meta = call('HMGET', META, 'era', 'mark', 'ver', 'shards', 'closed')
	if meta[1] ~= ARGV[3] then
		return {'ERA', meta[1] or ''}
	end
	if tonumber(meta[2]) ~= ARGV[4] - 1 then
		return {'MARK', meta[2] or ''}
	end
	if ARGV[6] ~= '' and (tonumber(meta[3]) or 0) < tonumber(ARGV[6]) then
		return {'ERA', meta[1]} -- a client's write is lost; the mark does not show it
	end
	guard = LEASE
	fence = tonumber(string.match(ARGV[2], '^%d+'))
	closed = meta[5] and '\n' .. meta[5]
	begin(meta[3], meta[4])
	return nil
end

-- touch is the first write of all scripts that add no timers. It needs no memory. Over maxmemory,
-- Redis lets a script continue after such a write.
local function touch()
	call('PEXPIRE', guard, ARGV[5])
end

-- use_up stores the operation number, so that it is not used again. ...: fields of META, and their
-- values. A script that gives versions calls leave() instead.
local function use_up(...)
	if owner then
		call('HSET', META, 'mark', ARGV[4], ...)
		return
	end
	if ... then
		call('HSET', META, ...)
	end
	call('HSET', guard, 'last', ARGV[4])
end

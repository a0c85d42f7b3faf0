-- owner: begins an owner's script, does the first write, and ends the script.
--
-- uses: base begin

-- owner_enters checks the owner's token, era and number. It returns nil, or the refusal that the
-- script answers.
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
		return {'ERA', meta[1]} -- a client's write was lost; this does not change the mark
	end
	guard = LEASE
	fence = tonumber(string.match(ARGV[2], '^%d+'))
	begin(meta[3], meta[4], meta[5])
	return nil
end

-- touch does the first write of all scripts that add no timers. The write needs no memory. Over
-- maxmemory, Redis lets a script continue after such a write.
local function touch()
	call('PEXPIRE', guard, ARGV[5])
end

-- use_up stores the operation number, so that it is not used again. Its arguments are fields of
-- META and their values. A script that assigns versions calls leave() instead.
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

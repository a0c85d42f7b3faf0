-- inbox: finds the writes of clients in the inbox, for the scripts of an owner.
--
-- uses: args base

-- has_news returns true if one of the ids of this column is in the inbox. Then a client has written
-- the id, and the owner has not acknowledged that.
local function has_news(at, step, to)
	if call('ZCARD', INBOX) == 0 then
		return false
	end
	for _, score in ipairs(call('ZMSCORE', INBOX, unpack(column(at, step, to)))) do
		if score then
			return true
		end
	end
	return false
end

-- missing returns the code for an id without a value. If the inbox has a later version of the id,
-- an entry in TIMERS may belong to that version. Otherwise such an entry shows that another program
-- has deleted the value, because our scripts delete both.
local function missing(id, ver)
	local told = call('ZSCORE', INBOX, id)
	if told and math.abs(tonumber(told)) > tonumber(ver) then
		return ENOENT
	end
	return call('ZSCORE', TIMERS, id) and TORN or ENOENT
end

-- inbox: what an owner asks the inbox, which has the writes of clients.
--
-- uses: args base

-- has_news: is one of the ids of this column in the inbox? Then a client has written it, and the
-- owner has not acknowledged that.
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

-- missing: the code for a timer without a value. If the inbox has a later version of the id, the
-- entry may belong to that one. Else an entry shows that another program has deleted the value: our
-- scripts delete both.
local function missing(id, ver)
	local told = call('ZSCORE', INBOX, id)
	if told and math.abs(tonumber(told)) > tonumber(ver) then
		return ENOENT
	end
	return call('ZSCORE', TIMERS, id) and TORN or ENOENT
end

-- open: may an earlier claim of a timer still start after it is replaced or deleted?
--
-- uses: base begin rule value

-- is_open: may an earlier claim still start when this value is replaced? A damaged value may have
-- had any state.
local function is_open(value)
	local flags = decode(value)
	return not flags or flags % 65536 ~= 0
end

-- left_open: is this the score of a deletion after which an earlier claim may still start?
local function left_open(inbox_score)
	return inbox_score and tonumber(inbox_score) < 0
end

-- inbox_of: the scores of the ids in the inbox, for a client. For an owner it is empty.
local function inbox_of(ids)
	return owner and {} or call('ZMSCORE', INBOX, unpack(ids))
end

-- client_cancels: two results. Is it too late for a client to cancel this value? And may an earlier
-- claim still start after the value is deleted? A claimed recurring timer is deleted, and has no
-- next occurrence.
local function client_cancels(value)
	local flags = decode(value)
	if not flags then
		local state, open, _, claim = raw(value)
		return false, state ~= 0 or open ~= 0 or claim ~= 0
	end
	if flags % 256 == 1 and rule_at(value) then
		return false, true
	end
	return flags % 256 == 1, flags % 65536 >= 256
end

-- open: finds out whether an earlier claim of a timer may still start after the timer is replaced
-- or deleted.
--
-- uses: base begin rule value

-- is_open returns true if an earlier claim may still start after this value is replaced. A damaged
-- value may have had any state, so is_open returns true for it.
local function is_open(value)
	local flags = decode(value)
	return not flags or flags % 65536 ~= 0
end

-- left_open returns true if this is the score of a deletion after which an earlier claim may still
-- start.
local function left_open(inbox_score)
	return inbox_score and tonumber(inbox_score) < 0
end

-- inbox_of returns the scores of the ids in the inbox. For an owner it returns an empty table.
local function inbox_of(ids)
	return owner and {} or call('ZMSCORE', INBOX, unpack(ids))
end

-- client_cancels returns two results. The first is true if it is too late for a client to cancel
-- this value. The second is true if an earlier claim may still start after the value is deleted. A
-- recurring timer that is claimed is deleted, and has no next occurrence.
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

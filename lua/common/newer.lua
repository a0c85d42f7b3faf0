-- newer: recognizes timers and letters that a later version of the library has written. Only that
-- version may change them. The one exception is a rebuild of the shard (repush.lua).
--
-- uses: base value

local RECORD = 2 -- the newest version of a record that this library understands

-- is_newer returns true if a later version of the library has written this value.
local function is_newer(value)
	return (string.byte(value, BODY) or 0) % WHY == 3 and sub(value, 43, 45) == 'DWT' and
		(string.byte(value, 46) or 0) > RECORD and decode(value) ~= nil
end

-- SHARED stands behind the format of a shard that a peer owns. A library that knows no peers takes
-- such a text for a later format, so it does not own the shard.
local SHARED = 'p'

-- is_later returns true if these scripts do not know this format. A format that is not a number is
-- also unknown.
local function is_later(mark)
	local number = mark and tonumber(string.match(mark, '^(%d+)' .. SHARED .. '?$'))
	return mark and not ((number or RECORD + 1) <= RECORD)
end

-- may_have_newer returns true if the shard has, or had, a timer or letter of a later version.
local function may_have_newer()
	return is_later(call('HGET', META, 'format'))
end

-- newer: timers and letters of a later version of the library, which alone may change them.
--
-- uses: base value

local RECORD = 2 -- the newest version of a record that this library understands

-- is_newer: a later version of the library has written this value, and alone may change it.
local function is_newer(value)
	return (string.byte(value, BODY) or 0) % WHY == 3 and sub(value, 43, 45) == 'DWT' and
		(string.byte(value, 46) or 0) > RECORD and decode(value) ~= nil
end

-- is_later: is this format unknown to these scripts? Text that is not a number is, too.
local function is_later(mark)
	return mark and not ((tonumber(mark) or RECORD + 1) <= RECORD)
end

-- may_have_newer: is, or was, some timer or letter of the shard of a later version?
local function may_have_newer()
	return is_later(call('HGET', META, 'format'))
end

-- topic: finds the topic in a value.
--
-- uses: base value

-- topic_of returns the topic in a value. For a damaged value it may return any bytes.
local function topic_of(value)
	local form, size = string.byte(value, BODY, BODY + 1)
	local at = BODY + 6
	if form == 1 then -- most values have form 1
		return sub(value, at, at + (size or 0) - 1)
	end
	form = (form or 1) % WHY
	if form == 2 then
		at = BODY + 14
	elseif form == 3 then -- the body is a whole record
		local id_size
		id_size, size = string.byte(value, BODY + 18, BODY + 19)
		at = BODY + 34 + (id_size or 0)
	end
	return sub(value, at, at + (size or 0) - 1)
end

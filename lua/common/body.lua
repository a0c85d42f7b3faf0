-- body: reads and changes the body of a value, and the text of dw_set_why() in it.
--
-- uses: base value

-- body_of returns the body of a value, without the text of dw_set_why(). If a value has such a
-- text, its last byte is the size of the text.
local function body_of(value)
	local form = string.byte(value, BODY)
	if form % (2 * WHY) < WHY then
		return sub(value, BODY)
	end
	return string.char(form - WHY) .. sub(value, BODY + 1, -2 - string.byte(value, -1))
end

-- body_with returns the body of a value, with `why` in place of its text of dw_set_why(). If `why`
-- is '', the body has no such text.
local function body_with(value, why)
	local body = body_of(value)
	if why == '' then
		return body
	end
	return string.char(string.byte(body) + WHY) .. sub(body, 2) .. why .. string.char(#why)
end

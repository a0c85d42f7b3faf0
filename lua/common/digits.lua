-- digits: writes whole numbers as text.
local whole -- the format of a whole number

-- digits returns a whole number as text, without loss. '%d' is faster than '%.0f', but needs a long
-- of 64 bits.
local function digits(number)
	whole = whole or (string.format('%d', 9007199254740991) == '9007199254740991' and
		'%d' or '%.0f')
	return string.format(whole, number)
end

-- rule: finds the rule in the value of a recurring timer.
--
-- uses: base value

-- rule_at returns where the numbers of a recurring timer's rule begin in its value
-- (src/timer/record.h), and the position behind its record. It returns nil for another timer. The
-- numbers are NUMBERS bytes, and change with each occurrence.
local NUMBERS = 36
local function rule_at(value)
	if (string.byte(value, BODY) or 0) % WHY ~= 3 or sub(value, 43, 46) ~= 'DWT\2' or
		#value < 71 then
		return nil
	end
	local size, _, id_size, topic_size, _, data_size = words_of('<I4I4BBI2I4', value, 47)
	local at = 71 + id_size + topic_size
	if 42 + size > #value or 43 + size - data_size < at + 4 + NUMBERS or
		string.byte(value, at) ~= 1 then
		return nil
	end
	return at + 4, 43 + size
end

-- is_same returns true if both values are recurring timers that differ at most in their occurrence.
-- Their checksums may also differ.
local function is_same(a, b)
	local at, behind = rule_at(a)
	return at and rule_at(b) == at and sub(a, 43, 50) == sub(b, 43, 50) and
		sub(a, 55, at - 1) == sub(b, 55, at - 1) and
		sub(a, at + NUMBERS, behind - 1) == sub(b, at + NUMBERS, behind - 1)
end

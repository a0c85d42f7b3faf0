-- value: reads and writes the header of a value. lua/README.md describes the header.
--
-- uses: base
--
-- Numbers in Lua are doubles, which are exact up to 2^53. Therefore a header is handled as nine
-- 32-bit words, and the two words of a deadline, which may be any 64-bit number, are never joined.
local WORD = 4294967296
local BODY = 37 -- the position of the body in a value, counted from 1
local WHY = 16 -- added to the form of a body that ends with a text of dw_set_why()

-- The check of a header covers its first 32 bytes and the checksum of its body. Every product is
-- below 2^48, so the sum is exact. The formula stands here twice, because a function call would
-- take too much time.
--
-- decode returns the words of a value, or nil if the value is damaged. `flags` has four bytes:
-- state, open, retries and crashes. v, d and c are the version, the deadline and the claim, with
-- the low word first.
local function decode(value)
	if #value < 42 then
		return nil
	end
	local flags, attempt, v0, v1, d0, d1, c0, c1, sum, _, crc =
		words_of('<I4I4I4I4I4I4I4I4I4I2I4', value)
	if sum ~= (flags * 40503 + attempt * 52163 + v0 * 60497 + v1 * 39769 + d0 * 45503 +
		d1 * 57037 + c0 * 33923 + c1 * 63793 + crc * 50021 + 64951) % 4294967291 or
		flags % 256 > 1 then
		return nil
	end
	return flags, attempt, v0, v1, d0, d1, c0, c1, crc
end

local function encode(flags, attempt, v0, v1, d0, d1, c0, c1, crc)
	return pack('<I4I4I4I4I4I4I4I4I4', flags, attempt, v0, v1, d0, d1, c0, c1,
		(flags * 40503 + attempt * 52163 + v0 * 60497 + v1 * 39769 + d0 * 45503 +
		d1 * 57037 + c0 * 33923 + c1 * 63793 + crc * 50021 + 64951) % 4294967291)
end

-- raw returns the bytes state and open, the version and the claim of a damaged value. All of them
-- may be wrong. Missing bytes are read as zero.
local function raw(value)
	local state, open, _, _, ver, _, claim =
		words_of('<BBI2I4I8I8I8', value .. string.rep('\0', 32))
	return state, open, ver, claim
end

-- halves returns the low and the high word of a number.
local function halves(number)
	local low = number % WORD
	return low, (number - low) / WORD
end

-- score returns the score of a pending timer, which a double holds exactly. A claimed timer has the
-- negative of this score.
local function score(d0, d1)
	if d1 >= 2147483648 or d0 + d1 == 0 then
		return 1
	end
	return d1 >= 2097152 and 9007199254740991 or d1 * WORD + d0
end

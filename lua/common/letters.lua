-- letters: makes dead letters.
--
-- uses: base digits

-- letter_name returns the member of a dead letter. The zero byte ends the id, because ids have no
-- control characters.
local function letter_name(id, ver)
	return id .. '\0' .. string.format('%016.0f', ver)
end

-- add_letter makes the timer a dead letter with this number, which died at the time `at` (us).
-- write_letters writes all of these letters.
local numbers, letters, names = {}, {}, {}

local function add_letter(number, id, ver, reason, at, value)
	local name = letter_name(id, ver)
	insert(numbers, number)
	insert(numbers, name)
	insert(letters, name)
	insert(letters, pack('<I8i8B', number, at, reason) .. value)
	insert(names, 0)
	insert(names, name)
end

local function write_letters()
	if numbers[1] then
		call('HSET', META, 'dead', digits(numbers[#numbers - 1]))
		call('ZADD', DEAD, unpack(numbers))
		call('HSET', LETTERS, unpack(letters))
		call('ZADD', NAMES, unpack(names))
	end
end

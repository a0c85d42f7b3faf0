-- args: reads ARGV as lists.

-- column returns every step-th word from ARGV[at] to ARGV[to], or to the end if `to` is nil.
local function column(at, step, to)
	local words, count = {}, 0
	for i = at, to or #ARGV, step do
		count = count + 1
		words[count] = ARGV[i]
	end
	return words
end

-- with_values returns the words for HSET, which are each id and its value. ARGV has `count` pairs
-- of score and id from ARGV[at] on, and then the values. To send each id twice would take more
-- time.
local function with_values(at, count)
	local behind = at + 2 * count
	local fields = {unpack(ARGV, at + 1, behind)}
	for k = 1, count do
		fields[2 * k] = ARGV[behind - 1 + k]
	end
	return fields
end

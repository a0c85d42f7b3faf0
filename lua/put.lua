-- put: makes timers, or replaces them.
--
-- KEYS      the nine of the shard
-- ARGV      1-6 as in README.md; role owner or client
--           7 a digit for each timer, its flags: 1 only if the id is absent, 2 claimed at once, 4
--           the owner took its claim back; a client's 2 and 4 do not count
--           8.. ids, which differ; then score, id of each; then id, value of each: as it is to be
--           stored if its version can be taken. Versions grow from each to the next
-- returns   {'OK'}: all is stored as it was given; {'OK', ...}: for each the new header, or 1 the
--           id has a timer; or a refusal; an error, of which OOM is one, has done nothing
-- cost      O(log N) a timer; 2 to 3 us of the server
local refusal = enter()
if refusal then
	return refusal
end

local count = #ARGV[7]
local SCORES, STORED = 8 + count, 8 + 3 * count
local values = call('HMGET', VALUES, unpack(ARGV, 8, 7 + count))
local inbox = owner and {} or call('ZMSCORE', INBOX, unpack(ARGV, 8, 7 + count))

-- value_of, version_of: as given.
local function value_of(k)
	return ARGV[STORED + 2 * k - 1]
end

local function version_of(k)
	return (words_of('<I8', value_of(k), 9))
end

-- is_plain: nothing stands in the way of any.
local function is_plain()
	local least, most = version_of(1), version_of(count)
	if least <= last or least < now - 2000000 or most > now + AHEAD or
		(not owner and string.find(ARGV[7], '[2-7]')) then
		return false
	end
	for k = 1, count do
		if values[k] or left_open(inbox[k]) then
			return false
		end
	end
	last = most
	return true
end

-- with_header: the value under another version than the caller thought, or open.
local function with_header(value, open, claimed)
	local d0, d1 = words_of('<I4I4', value, 17)
	local crc = words_of('<I4', value, 39)
	local v0, v1 = halves(last)
	local c0, c1 = 0, 0
	if claimed then
		c0, c1 = halves(fence)
	end
	local one = claimed and 1 or 0
	return encode(open + one, one, v0, v1, d0, d1, c0, c1, crc) .. sub(value, BODY),
		score(d0, d1) * (1 - 2 * one)
end

local answer, scores, stored, news = {'OK'}, {}, {}, {}

local function one_by_one()
	local made = {}
	for k = 1, count do
		local id = ARGV[7 + k]
		local flags = tonumber(sub(ARGV[7], k, k))
		local before = made[id] or values[k]

		if not owner then
			flags = flags % 2
		end
		if before and flags % 2 == 1 then
			answer[k + 1] = EEXIST
		else
			local open = 0
			if before then
				open = flags < 4 and is_open(before) and 256 or 0
			elseif left_open(inbox[k]) then
				open = 256
			end
			next_ver(version_of(k))
			local value, rank = with_header(value_of(k), open, flags % 4 >= 2)
			insert(scores, digits(rank))
			insert(scores, id)
			insert(stored, id)
			insert(stored, value)
			made[id] = value
			answer[k + 1] = sub(value, 1, BODY - 1)
			if not owner then
				insert(news, last)
				insert(news, id)
			end
		end
	end
end

local failure
if is_plain() then
	failure = store_new(SCORES, STORED, count)
	for k = 1, owner and 0 or count do
		insert(news, digits(version_of(k)))
		insert(news, ARGV[7 + k])
	end
else
	one_by_one()
	failure = store_new(scores, stored)
end
if failure then
	return failure
end
leave(news)
return answer

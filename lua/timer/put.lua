-- put: adds timers, or replaces them.
--
-- uses: args base begin clock digits enter leave newer open owner rule store store_new topic
-- uses: value version
--
-- KEYS      l m z h i s:NONCE E x
-- ARGV      1-6 as README.md says; the role is owner or client
--           7 a character for each timer, '0' + its flags. 1: only if the id has no timer; 2: the
--           timer is claimed at once; 4: the owner took its claim back; 8: only if the stored timer
--           has the version that is given below; 16, together with 1: and only if no end of the
--           id is kept. 2 and 4 are ignored for a client
--           8.. score and id of each timer; the ids differ. Then the value of each timer, which is
--           stored as it is if its version can be used. The versions grow from each timer to the
--           next. Then the version for each flag 8; 0 means that the id must have no timer
-- returns   {'OK'}: all values were stored as given; {'OK', ...} with one item for each timer. The
--           new header: the timer was stored; 1: the id has a timer, or a kept end; 2: the id has
--           no timer; 7: the id has a timer of a newer version; 9: the topic is paused; {0, value}:
--           the id has the same recurring timer, which stays as it is; {3, value}: the id has a
--           timer of another version; or a refusal. After an error, for example OOM, nothing was
--           done
-- cost      O(log N) and 4 us of server time for each timer
local refusal = enter()
if refusal then
	return refusal
end

local count = #ARGV[7]
local PAIRS, GIVEN = 8, 8 + 2 * count
local ids, inbox = nil, {}
if not owner then
	ids = column(PAIRS + 1, 2, GIVEN - 1)
	inbox = inbox_of(ids)
end

-- value_of and version_of return the value and its version as the caller has passed them.
local function value_of(k)
	return ARGV[GIVEN - 1 + k]
end

local function version_of(k)
	return (words_of('<I8', value_of(k), 9))
end

-- may_be_plain returns true if all values can be stored as given, provided that no id has a timer.
local function may_be_plain()
	local least, most = version_of(1), version_of(count)
	if closed or least <= last or least < now() - 2000000 or most > now() + AHEAD or
		string.find(ARGV[7], '[8-O]') or
		(not owner and string.find(ARGV[7], '[2-7]')) then
		return false
	end
	for k = 1, #inbox do
		if left_open(inbox[k]) then
			return false
		end
	end
	return call('HLEN', VALUES) == call('ZCARD', TIMERS)
end

local tried = false

-- store_plainly returns true if it has stored all values. It returns false if some ids have timers,
-- which it leaves alone. If the first write fails, it returns the error. An entry in TIMERS proves
-- that there is a value, unless another program has deleted values.
local function store_plainly()
	local made = redis.pcall('ZADD', TIMERS, 'NX', unpack(ARGV, PAIRS, GIVEN - 1))
	if made ~= count then
		tried = true
		return type(made) == 'table' and made
	end
	call('HSET', VALUES, unpack(with_values(PAIRS, count)))
	touch()
	last = version_of(count)
	return true
end

-- with_header returns the value with the version `last`, and its score. `open` is 256 if an earlier
-- claim may still start, and otherwise 0. If `claimed` is true, this owner has claimed the timer.
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

local answer, news, kept = {'OK'}, {}, {}
local refused = false -- true: a pause has refused at least one put

-- keep restores the score of a stored value that stays. If the value had no entry in TIMERS,
-- store_plainly() may have stored the score of the new timer.
local function keep(id, value)
	local flags, _, _, _, d0, d1 = decode(value)
	if tried and flags then
		insert(kept, digits(score(d0, d1) * (1 - 2 * (flags % 256))))
		insert(kept, id)
	end
end

-- is_remembered returns true if an end of the id is kept. The end may have been kept by a clock
-- that was far ahead, and was set back since. Then the end is kept from now on for the duration
-- that its bytes say, as in ended_until() in src/timer/ended.c.
local AHEAD, untils = 10800000000, {}

local function is_remembered(id)
	local till = tonumber(call('ZSCORE', UNTILS, id) or 0)
	local kept_end = till > now() and call('HGET', ENDS, id)
	if kept_end and #kept_end >= 48 then
		local a0, a1, u0, u1 = words_of('<I4I4I4I4', kept_end, 33)
		local kept_until = now() + (u1 - a1) * 4294967296 + u0 - a0
		if till > kept_until + AHEAD then
			insert(untils, digits(kept_until))
			insert(untils, id)
		end
	end
	return till > now()
end

-- is_wrong returns true if the id does not have this version. Version 0 means that the id must have
-- no timer.
local function is_wrong(before, version)
	return tonumber(version) ~= (before and select(3, raw(before)) or 0)
end

local function one_by_one()
	ids = ids or column(PAIRS + 1, 2, GIVEN - 1)
	local expected = GIVEN + count - 1
	local values, made = call('HMGET', VALUES, unpack(ids)), {}
	for k = 1, count do
		local id = ids[k]
		local flags = string.byte(ARGV[7], k) - 48
		local before = made[id] or values[k]
		local wrong, once = false, flags >= 16

		flags = flags % 16
		if flags >= 8 then
			expected = expected + 1
			wrong = is_wrong(before, ARGV[expected])
			flags = flags - 8
		end
		if not owner then
			flags = flags % 2
		end
		if closed and topic_is_closed(topic_of(value_of(k))) then
			answer[k + 1] = PAUSED
			refused = true
			if before then
				keep(id, before)
			end
		elseif before and (flags % 2 == 1 or is_newer(before)) then
			answer[k + 1] = flags % 2 == 1 and EEXIST or NEWER
			keep(id, before)
		elseif once and is_remembered(id) then
			answer[k + 1] = EEXIST
		elseif wrong then
			answer[k + 1] = before and {STALE, before} or ENOENT
			if before then
				keep(id, before)
			end
		elseif before and is_same(before, value_of(k)) and decode(before) then
			answer[k + 1] = {0, before}
			keep(id, before)
		else
			local open = 0
			if before then
				open = flags < 4 and is_open(before) and 256 or 0
			elseif left_open(inbox[k]) then
				open = 256
			end
			next_ver(version_of(k))
			local value, rank = with_header(value_of(k), open, flags % 4 >= 2)
			store_timer(id, value, rank)
			made[id] = value
			answer[k + 1] = sub(value, 1, BODY - 1)
			if not owner then
				insert(news, last)
				insert(news, id)
			end
		end
	end
	local failure = store_new()
	if not failure then
		write('ZADD', TIMERS, kept)
		write('ZADD', UNTILS, untils)
	end
	return failure
end

local plain = may_be_plain() and store_plainly()
if type(plain) == 'table' then
	return plain
end
if plain then
	for k = 1, owner and 0 or count do
		insert(news, digits(version_of(k)))
		insert(news, ids[k])
	end
else
	local failure = one_by_one()
	if failure then
		return failure
	end
end
if refused then
	call('HSET', owner and META or SESSION, 'refused', ARGV[4])
end
leave(news)
return answer

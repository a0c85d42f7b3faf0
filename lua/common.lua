-- What the scripts share. Each script is this file and then its own, so here are only locals. The
-- keys and what is in them: lua/README.md. The rules of a timer's life: src/timer/transition.c,
-- which these scripts follow to the letter.
--
-- Lua's numbers are doubles, exact to 2^53. So a header is handled as nine 32-bit words, and a
-- deadline, which may be any 64-bit number, is never put together. Nothing is written before all
-- has been read and worked out: Redis does not take back what a failed script has written.
local call, pack, words_of = redis.call, struct.pack, struct.unpack
local tonumber, unpack, insert = tonumber, unpack, table.insert
local sub, format = string.sub, string.format
local LEASE, META, TIMERS, VALUES, INBOX, DEAD, LETTERS, NAMES, SESSION = unpack(KEYS)
local EEXIST, ENOENT, STALE, LATE, CORRUPT, TORN, NEWER = 1, 2, 3, 4, 5, 6, 7
local WORD = 4294967296
local BODY = 37 -- where it begins in a value
local RECORD = 1 -- the newest version of a record that these scripts' library understands
-- So far ahead of the clock a version may be, in us: each put of a caller takes as many as there
-- are shards, so a crowd of 14 million in 256 of them keeps its order.
local AHEAD = 3600000000

local owner = ARGV[1] == 'o'
local now, last, first, shard, shards, fence

-- The check of a header is over its first 32 bytes and the checksum of its body. Every product is
-- below 2^48, so that the sum is exact. It stands here twice, because a call would cost too much.
--
-- decode: the words of a value; nil if it is damaged. flags: state, open, retries, crashes, a byte
-- each; v, d, c: version, deadline and claim, the low word first.
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

-- is_newer: a later version of the library has written it: nothing but that may change it.
local function is_newer(value)
	return sub(value, BODY, BODY) == '\3' and sub(value, 43, 45) == 'DWT' and
		(string.byte(value, 46) or 0) > RECORD and decode(value) ~= nil
end

-- is_later: a mark that these scripts do not know. What is no number is none of theirs either.
local function is_later(mark)
	return mark and not ((tonumber(mark) or RECORD + 1) <= RECORD)
end

-- may_have_newer: some timer or letter of the shard is, or was, of a later version.
local function may_have_newer()
	return is_later(call('HGET', META, 'format'))
end

-- NEWER_ERROR: what scripts for people and other languages answer then.
local NEWER_ERROR = 'ERR the timer is of a newer durawheel, and left alone'

local function encode(flags, attempt, v0, v1, d0, d1, c0, c1, crc)
	return pack('<I4I4I4I4I4I4I4I4I4', flags, attempt, v0, v1, d0, d1, c0, c1,
		(flags * 40503 + attempt * 52163 + v0 * 60497 + v1 * 39769 + d0 * 45503 +
		d1 * 57037 + c0 * 33923 + c1 * 63793 + crc * 50021 + 64951) % 4294967291)
end

-- halves: a number as two words.
local function halves(number)
	local low = number % WORD
	return low, (number - low) / WORD
end

-- score: of a pending timer; that of a claimed one is its negative. A double holds it exactly.
local function score(d0, d1)
	if d1 >= 2147483648 or d0 + d1 == 0 then
		return 1
	end
	return d1 >= 2097152 and 9007199254740991 or d1 * WORD + d0
end

-- is_open: an earlier claim may still start when this value is replaced. A damaged one may have
-- been anything.
local function is_open(value)
	local flags = decode(value)
	return not flags or flags % 65536 ~= 0
end

-- congruent: the smallest number from `least` on that only this shard gives.
local function congruent(least)
	return least + (shard - least) % shards
end

-- next_ver: the next generation. floor: the time at which the caller asked, if that can be: so
-- timers of different shards keep the order of the calls.
local function next_ver(floor)
	local base = now
	floor = tonumber(floor)
	if floor and floor >= now - 2000000 and floor <= now + AHEAD then
		base = floor
	end
	last = congruent(base > last and base or last + 1)
	return last
end

-- WHOLE writes a whole number without loss, and '%d' is the faster way where a long has 64 bits.
local WHOLE = format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'

local function digits(number)
	return format(WHOLE, number)
end

local function time_us()
	local time = call('TIME')
	return time[1] * 1000000 + time[2]
end

-- begin takes over what META says of versions and shards.
local function begin(ver, count)
	now = time_us()
	first = tonumber(ver) or 0
	last = first
	shard = tonumber(string.match(LEASE, '^{.*:(%d+)}:'))
	shards = tonumber(count)
end

-- owner_enters: the guard of an owner's script. nil, or the answer to give instead of doing it.
local function owner_enters()
	if call('GET', LEASE) ~= ARGV[2] then
		return {'FENCED'}
	end
	local meta = call('HMGET', META, 'era', 'mark', 'ver', 'shards')
	if meta[1] ~= ARGV[3] then
		return {'ERA', meta[1] or ''}
	end
	if tonumber(meta[2]) ~= ARGV[4] - 1 then
		return {'MARK', meta[2] or ''}
	end
	if ARGV[6] ~= '' and (tonumber(meta[3]) or 0) < tonumber(ARGV[6]) then
		return {'ERA', meta[1]} -- what a client wrote is gone, and the mark does not tell
	end
	fence = tonumber(string.match(ARGV[2], '^%d+'))
	begin(meta[3], meta[4])
	return nil
end

local function client_enters()
	local session = call('HMGET', SESSION, 'conn', 'last')
	local meta = call('HMGET', META, 'ver', 'shards')
	if session[1] ~= ARGV[2] or not meta[2] or ARGV[3] ~= '' and meta[2] ~= ARGV[3] then
		return {'NOSESSION'}
	end
	if tonumber(session[2]) ~= ARGV[4] - 1 then
		return {'MARK', session[2] or ''}
	end
	begin(meta[1], meta[2])
	return nil
end

local function enter()
	if owner then
		return owner_enters()
	end
	return client_enters()
end

-- touch is the first write of all scripts but those that make timers: it needs no memory, and over
-- maxmemory Redis lets a script go on that has written.
local function touch()
	call('PEXPIRE', owner and LEASE or SESSION, ARGV[5])
end

local function write(command, key, words)
	if words[1] then
		call(command, key, unpack(words))
	end
end

-- use_up: the operation number is used, and the versions that were given.
local function use_up()
	if owner and last ~= first then
		call('HSET', META, 'mark', ARGV[4], 'ver', digits(last))
	elseif owner then
		call('HSET', META, 'mark', ARGV[4])
	else
		if last ~= first then
			call('HSET', META, 'ver', digits(last))
		end
		call('HSET', SESSION, 'last', ARGV[4])
	end
end

-- leave ends a script that has changed something. news: scores and ids for the inbox.
local function leave(news)
	use_up()
	if news[1] then
		call('ZADD', INBOX, unpack(news))
		if not owner and ARGV[6] ~= '' then
			call('PUBLISH', ARGV[6], shard)
		end
	end
end

-- store_new is the first write of what makes new timers: false, or the error: there is no memory,
-- or Redis takes no writes, or not to that key. Nothing was done, and the number is not used up.
local function store_new(scores, values)
	if scores[1] then
		local reply = redis.pcall('ZADD', TIMERS, unpack(scores))
		if type(reply) == 'table' and reply.err then
			return reply
		end
		call('HSET', VALUES, unpack(values))
	end
	touch()
	return false
end

-- column: every step-th word from ARGV[at] to ARGV[to], or to the end.
local function column(at, step, to)
	local words, count = {}, 0
	for i = at, to or #ARGV, step do
		count = count + 1
		words[count] = ARGV[i]
	end
	return words
end

-- with_values: what HSET takes: each id of the pairs of score and id from ARGV[at] on, with its
-- value; the values stand behind the pairs. To be sent each id twice would cost more.
local function with_values(at, count)
	local behind = at + 2 * count
	local fields = {unpack(ARGV, at + 1, behind)}
	for k = 1, count do
		fields[2 * k] = ARGV[behind - 1 + k]
	end
	return fields
end

-- has_news: a client has written one of the ids of that column, and the owner has not said yet that
-- it knows.
local function has_news(at, step, to)
	if call('ZCARD', INBOX) == 0 then
		return false
	end
	for _, score in ipairs(call('ZMSCORE', INBOX, unpack(column(at, step, to)))) do
		if score then
			return true
		end
	end
	return false
end

-- inbox_of: the scores of the ids in the inbox, for a client; an owner does not ask.
local function inbox_of(ids)
	return owner and {} or call('ZMSCORE', INBOX, unpack(ids))
end

-- left_open: that score is of a deletion that is open.
local function left_open(inbox_score)
	return inbox_score and tonumber(inbox_score) < 0
end

-- missing: what an owner hears of a timer that has no value. None of us leaves its place behind;
-- and if that was a later timer's, which the owner has not heard of, the inbox has word of it.
local function missing(id, ver)
	local told = call('ZSCORE', INBOX, id)
	if told and math.abs(tonumber(told)) > tonumber(ver) then
		return ENOENT
	end
	return call('ZSCORE', TIMERS, id) and TORN or ENOENT
end

-- letter_name: the member of a dead letter. An id has no control characters.
local function letter_name(id, ver)
	return id .. '\0' .. format('%016.0f', ver)
end

-- raw: state, open, version and claim of a damaged value, whatever they are worth; bytes that are
-- missing are read as zero.
local function raw(value)
	local state, open, _, _, ver, _, claim =
		words_of('<BBI2I4I8I8I8', value .. string.rep('\0', 32))
	return state, open, ver, claim
end

-- shard_of: CRC16 of the id, or of its part in {}, as Redis Cluster takes it.
local function shard_of(id, count)
	local tag = string.match(id, '^[^{]*{([^}]+)}') or id
	local crc = 0
	for i = 1, #tag do
		crc = bit.bxor(crc, string.byte(tag, i) * 256)
		for _ = 1, 8 do
			crc = crc * 2
			if crc >= 65536 then
				crc = bit.bxor(crc, 0x11021)
			end
		end
	end
	return crc % count
end

-- client_cancels: whether a client's cancel comes too late for a value; and whether an earlier
-- claim may still start when it is deleted.
local function client_cancels(value)
	local flags = decode(value)
	if not flags then
		local state, open, _, claim = raw(value)
		return false, state ~= 0 or open ~= 0 or claim ~= 0
	end
	return flags % 256 == 1, flags % 65536 >= 256
end

-- by_hand begins the scripts for people and other languages, who have no session: nil, or what is
-- wrong.
local function by_hand(id)
	local meta = call('HMGET', META, 'ver', 'shards')
	if not meta[2] then
		return redis.error_reply('ERR there is no ' .. META .. '; start its owner once')
	end
	begin(meta[1], meta[2])
	if shard_of(id, shards) ~= shard then
		return redis.error_reply(format('ERR %s is in shard %02d of %d', id,
			shard_of(id, shards), shards))
	end
	return nil
end

-- post_by_hand ends them: news for the owner, as a client's.
local function post_by_hand(id, news)
	call('HSET', META, 'ver', digits(last))
	call('ZADD', INBOX, news, id)
	call('PUBLISH', string.match(LEASE, '^({.*):%d+}:') .. '}:wake', shard)
end

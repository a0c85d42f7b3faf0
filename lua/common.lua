-- The parts that all scripts share. Each script is this file followed by its own file, so this file
-- defines only locals. lua/README.md describes the keys and their contents. The scripts follow the
-- rules for a timer's life in src/timer/transition.c exactly.
--
-- Numbers in Lua are doubles, which are exact up to 2^53. Therefore a header is handled as nine
-- 32-bit words, and the two words of a deadline, which may be any 64-bit number, are never joined.
-- A script reads and computes everything before its first write, because Redis does not undo the
-- writes of a failed script.
local call, pack, words_of = redis.call, struct.pack, struct.unpack
local tonumber, unpack, insert = tonumber, unpack, table.insert
local sub, format, byte, find = string.sub, string.format, string.byte, string.find
local LEASE, META, TIMERS, VALUES, INBOX, DEAD, LETTERS, NAMES, SESSION = unpack(KEYS)
local INDEX = sub(LEASE, 1, -2) .. 'k' -- of the timers, by topic
local ENDS, UNTILS = sub(LEASE, 1, -2) .. 'E', sub(LEASE, 1, -2) .. 'x' -- of ended timers
local EEXIST, ENOENT, STALE, LATE, CORRUPT, TORN, NEWER, WAIT = 1, 2, 3, 4, 5, 6, 7, 8
local PAUSED = 9
local WORD = 4294967296
local BODY = 37 -- the position of the body in a value, from 1
local WHY = 16 -- added to the form of a body that ends with a text of dw_why()
local RECORD = 2 -- the newest version of a record that this library understands
-- How far a version may be ahead of the clock, in us. Each put takes as many numbers as there are
-- shards, so a burst of 14 million puts in 256 shards keeps its order.
local AHEAD = 3600000000

local owner = ARGV[1] == 'o'
local now, last, first, shard, shards, fence
local closed -- the topics that take no puts, a line each; or nil

-- The check of a header covers its first 32 bytes and the checksum of its body. Every product is
-- below 2^48, so the sum is exact. The formula stands here twice, because a call would take too
-- much time.
--
-- decode: the words of a value; nil if it is damaged. flags: state, open, retries and crashes, a
-- byte each. v, d and c: version, deadline and claim, the low word first.
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

-- is_newer: a later version of the library has written this value, and alone may change it.
local function is_newer(value)
	return (byte(value, BODY) or 0) % WHY == 3 and sub(value, 43, 45) == 'DWT' and
		(byte(value, 46) or 0) > RECORD and decode(value) ~= nil
end

-- rule_at: where the numbers of a recurring timer's rule begin in its value (src/timer/record.h),
-- and what is behind its record; or nil. They are NUMBERS bytes, and change with each occurrence.
local NUMBERS = 36
local function rule_at(value)
	if (byte(value, BODY) or 0) % WHY ~= 3 or sub(value, 43, 46) ~= 'DWT\2' or
		#value < 71 then
		return nil
	end
	local size, _, id_size, topic_size, _, data_size = words_of('<I4I4BBI2I4', value, 47)
	local at = 71 + id_size + topic_size
	if 42 + size > #value or 43 + size - data_size < at + 4 + NUMBERS or
		byte(value, at) ~= 1 then
		return nil
	end
	return at + 4, 43 + size
end

-- is_same: are these recurring timers that differ at most in their occurrence? The checksums
-- differ, too.
local function is_same(a, b)
	local at, behind = rule_at(a)
	return at and rule_at(b) == at and sub(a, 43, 50) == sub(b, 43, 50) and
		sub(a, 55, at - 1) == sub(b, 55, at - 1) and
		sub(a, at + NUMBERS, behind - 1) == sub(b, at + NUMBERS, behind - 1)
end

-- is_later: is this format unknown to these scripts? Text that is not a number is, too.
local function is_later(mark)
	return mark and not ((tonumber(mark) or RECORD + 1) <= RECORD)
end

-- may_have_newer: is, or was, some timer or letter of the shard of a later version?
local function may_have_newer()
	return is_later(call('HGET', META, 'format'))
end

local function encode(flags, attempt, v0, v1, d0, d1, c0, c1, crc)
	return pack('<I4I4I4I4I4I4I4I4I4', flags, attempt, v0, v1, d0, d1, c0, c1,
		(flags * 40503 + attempt * 52163 + v0 * 60497 + v1 * 39769 + d0 * 45503 +
		d1 * 57037 + c0 * 33923 + c1 * 63793 + crc * 50021 + 64951) % 4294967291)
end

-- body_of: the body of a value, without the text of dw_why(). The last byte of a value with such a
-- text is its size.
local function body_of(value)
	local form = byte(value, BODY)
	if form % (2 * WHY) < WHY then
		return sub(value, BODY)
	end
	return string.char(form - WHY) .. sub(value, BODY + 1, -2 - byte(value, -1))
end

-- body_with: the body of a value, with this text instead of the one before; '': with none.
local function body_with(value, why)
	local body = body_of(value)
	if why == '' then
		return body
	end
	return string.char(string.byte(body) + WHY) .. sub(body, 2) .. why .. string.char(#why)
end

-- topic_of: the topic in a value. Of a damaged value it may be any bytes.
local function topic_of(value)
	local form, size = byte(value, BODY, BODY + 1)
	local at = BODY + 6
	if form == 1 then -- the usual case, faster
		return sub(value, at, at + (size or 0) - 1)
	end
	form = (form or 1) % WHY
	if form == 2 then
		at = BODY + 14
	elseif form == 3 then -- the whole record
		local id_size
		id_size, size = byte(value, BODY + 18, BODY + 19)
		at = BODY + 34 + (id_size or 0)
	end
	return sub(value, at, at + (size or 0) - 1)
end

-- halves: the low and the high word of a number.
local function halves(number)
	local low = number % WORD
	return low, (number - low) / WORD
end

-- score: the score of a pending timer, which a double holds exactly. A claimed timer has the
-- negative of it.
local function score(d0, d1)
	if d1 >= 2147483648 or d0 + d1 == 0 then
		return 1
	end
	return d1 >= 2097152 and 9007199254740991 or d1 * WORD + d0
end

-- member_of: the member that a timer has in the index: its topic, a zero byte, its score as 8 bytes
-- with the highest one first, and its id. So the timers of a topic stand by deadline. A value alone
-- decides its member, even a damaged one.
local function member_of(id, value)
	local topic, d0, d1 = topic_of(value), 0, 0
	if find(topic, '\0', 1, true) then -- it is damaged
		topic = ''
	end
	if #value >= 24 then
		d0, d1 = words_of('<I4I4', value, 17)
	end
	if d1 < 2097152 and d0 + d1 > 0 then -- the usual case, faster
		return topic .. '\0' .. pack('>I4I4', d1, d0) .. id
	end
	return topic .. '\0' .. pack('>I8', score(d0, d1)) .. id
end

-- late_changes iterates over `late` in META: version, ';' if the timer is done, else ':', and id.
local function late_changes()
	return string.gmatch(call('HGET', META, 'late') or '', '(%d+)([:;])([^\n]*)\n')
end

-- is_open: may an earlier claim still start when this value is replaced? A damaged value may have
-- had any state.
local function is_open(value)
	local flags = decode(value)
	return not flags or flags % 65536 ~= 0
end

-- congruent: the smallest number from `least` on that belongs to this shard. Each number belongs to
-- one shard.
local function congruent(least)
	return least + (shard - least) % shards
end

-- next_ver: the next version. floor: the time at which the caller asked. It is used if it is near
-- the clock, so that timers of different shards keep the order of the calls.
local function next_ver(floor)
	local base = now
	floor = tonumber(floor)
	if floor and floor >= now - 2000000 and floor <= now + AHEAD then
		base = floor
	end
	last = congruent(base > last and base or last + 1)
	return last
end

-- WHOLE, digits: format a whole number without loss. '%d' is faster; it needs a long of 64 bits.
local WHOLE = format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'

local function digits(number)
	return format(WHOLE, number)
end

local function time_us()
	local time = call('TIME')
	return time[1] * 1000000 + time[2]
end

-- begin sets the time, the last version and the shard, from META and the name of the keys.
local function begin(ver, count)
	now = time_us()
	first = tonumber(ver) or 0
	last = first
	shard = tonumber(string.match(LEASE, '^{.*:(%d+)}:'))
	shards = tonumber(count)
end

-- owner_enters: checks an owner's token, era and number. Returns nil, or the refusal to answer. The
-- ZCARD fails if the index is a key of another type: before the script has written anything.
local function owner_enters()
	call('ZCARD', INDEX)
	if call('GET', LEASE) ~= ARGV[2] then
		return {'FENCED'}
	end
	local meta = call('HMGET', META, 'era', 'mark', 'ver', 'shards', 'closed')
	if meta[1] ~= ARGV[3] then
		return {'ERA', meta[1] or ''}
	end
	if tonumber(meta[2]) ~= ARGV[4] - 1 then
		return {'MARK', meta[2] or ''}
	end
	if ARGV[6] ~= '' and (tonumber(meta[3]) or 0) < tonumber(ARGV[6]) then
		return {'ERA', meta[1]} -- a client's write is lost; the mark does not show it
	end
	fence = tonumber(string.match(ARGV[2], '^%d+'))
	closed = meta[5] and '\n' .. meta[5]
	begin(meta[3], meta[4])
	return nil
end

local function client_enters()
	call('ZCARD', INDEX)
	local session = call('HMGET', SESSION, 'conn', 'last')
	local meta = call('HMGET', META, 'ver', 'shards', 'closed')
	if session[1] ~= ARGV[2] or not meta[2] or ARGV[3] ~= '' and meta[2] ~= ARGV[3] then
		return {'NOSESSION'}
	end
	if tonumber(session[2]) ~= ARGV[4] - 1 then
		return {'MARK', session[2] or ''}
	end
	begin(meta[1], meta[2])
	closed = meta[3] and '\n' .. meta[3]
	return nil
end

local function enter()
	if owner then
		return owner_enters()
	end
	return client_enters()
end

-- touch is the first write of all scripts that add no timers. It needs no memory. Over maxmemory,
-- Redis lets a script continue after such a write.
local function touch()
	call('PEXPIRE', owner and LEASE or SESSION, ARGV[5])
end

local function write(command, key, words)
	if words[1] then
		call(command, key, unpack(words))
	end
end

-- use_up stores the operation number and the last version, so that neither is used again.
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

-- What a script does to timers. remove_timer and store_timer note it, and write_timers does it. So
-- order, values and index always change together. Only scripts that change neither topic nor
-- deadline write a value by themselves: a claim, for example.
local deleted, scores, stored, indexed, outdated, places = {}, {}, {}, {}, {}, {}

-- remove_timer: value: the one that is stored, or false.
local function remove_timer(id, value)
	insert(deleted, id)
	if value then
		insert(outdated, member_of(id, value))
	end
end

-- store_timer: before: the value that is stored, or false. A script may store an id more than once:
-- the last value counts.
local function store_timer(id, value, place, before)
	local name = member_of(id, value)
	local at = places[id] or #stored + 1
	local former = before and member_of(id, before)
	if former and former ~= name then
		insert(outdated, former)
	end
	places[id] = at
	scores[at], scores[at + 1] = format(WHOLE, place), id
	stored[at], stored[at + 1] = id, value
	indexed[at], indexed[at + 1] = '0', name
end

-- write_timers: the outdated members go first, because a timer may have got one of them again.
local function write_timers()
	write('ZREM', TIMERS, deleted)
	write('HDEL', VALUES, deleted)
	write('ZADD', TIMERS, scores)
	write('HSET', VALUES, stored)
	write('ZREM', INDEX, outdated)
	write('ZADD', INDEX, indexed)
end

-- store_new is the first write of scripts that add timers. Returns false, or the error of Redis:
-- out of memory, or writes refused. After an error nothing was done, and the number is not used up.
local function store_new()
	if scores[1] then
		local reply = redis.pcall('ZADD', TIMERS, unpack(scores))
		if type(reply) == 'table' and reply.err then
			return reply
		end
		scores = {}
	end
	touch()
	write_timers()
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

-- with_values: the words for HSET, each id and its value. ARGV has `count` pairs of score and id
-- from ARGV[at] on, and then the values. Sending each id twice would take more time.
local function with_values(at, count)
	local behind = at + 2 * count
	local fields = {unpack(ARGV, at + 1, behind)}
	for k = 1, count do
		fields[2 * k] = ARGV[behind - 1 + k]
	end
	return fields
end

-- has_news: is one of the ids of this column in the inbox? Then a client has written it, and the
-- owner has not acknowledged that.
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

-- inbox_of: the scores of the ids in the inbox, for a client. For an owner it is empty.
local function inbox_of(ids)
	return owner and {} or call('ZMSCORE', INBOX, unpack(ids))
end

-- left_open: is this the score of a deletion after which an earlier claim may still start?
local function left_open(inbox_score)
	return inbox_score and tonumber(inbox_score) < 0
end

-- missing: the code for a timer without a value. If the inbox has a later version of the id, the
-- entry may belong to that one. Else an entry shows that another program has deleted the value: our
-- scripts delete both.
local function missing(id, ver)
	local told = call('ZSCORE', INBOX, id)
	if told and math.abs(tonumber(told)) > tonumber(ver) then
		return ENOENT
	end
	return call('ZSCORE', TIMERS, id) and TORN or ENOENT
end

-- must_wait: the owner may start timers while it is cut off, and has not released. So a client's
-- change is certain when this owner has acknowledged it. Returns the owner's fence, or false.
local function must_wait()
	local meta = not owner and call('HMGET', META, 'fire', 'fence')
	return meta and meta[1] and meta[2]
end

-- wait_for: the answer of a change that is certain when the owner has acknowledged that version.
local function wait_for(waits, version, code)
	return {WAIT, digits(math.abs(tonumber(version))) .. ':' .. waits .. ':' .. code}
end

-- jump: versions up to the first number may have been started by owners that were cut off, with
-- attempts that Redis does not know. A claim of them raises the attempt by the second number.
local function jump()
	local version, step = string.match(call('HGET', META, 'jump') or '0:1', '^(%d+):(%d+)')
	return tonumber(version), tonumber(step)
end

-- own_keep: how long a timer itself says that its end is kept, in us (tag 3 in src/timer/record.h).
-- 0: it does not say.
local function own_keep(value)
	if (byte(value, BODY) or 0) % WHY ~= 3 or sub(value, 43, 46) ~= 'DWT\2' or
		#value < 71 then
		return 0
	end
	local size, _, id_size, topic_size, _, data_size = words_of('<I4I4BBI2I4', value, 47)
	local at, behind = 71 + id_size + topic_size, 43 + size - data_size
	if behind > #value + 1 then
		return 0
	end
	while at + 4 <= behind and byte(value, at) < 3 do
		at = at + 4 + words_of('<I2', value, at + 2)
	end
	if at + 12 > behind or byte(value, at) ~= 3 then
		return 0
	end
	local low, high = words_of('<I4I4', value, at + 4)
	return high < 2147483648 and high * WORD + low or 0
end

-- topic_keep: how long the topic keeps the ends of its timers, in us; 0: not at all.
local keeps -- what META says of it, a line for each topic

local function topic_keep(topic)
	keeps = keeps or '\n' .. (call('HGET', META, 'keeps') or '')
	local _, to = string.find(keeps, '\n' .. topic .. '\t', 1, true)
	return to and tonumber(string.match(keeps, '^%d+', to + 1)) or 0
end

-- ender: the owner or client that ends a timer, 'HOST pid N'; '': it has no session.
local function ender()
	local holder = call('HGET', fence and META or SESSION, fence and 'holder' or 'who') or ''
	local host, pid = string.match(holder, '^(.-), pid (%d+)')
	return sub(host and host .. ' pid ' .. pid or string.match(holder, '^[^|]*'), 1, 127)
end

-- end_timer: the timer of this intact value ends: done, cancelled, or dead for a reason. Its end is
-- noted, if it is kept, and write_ends writes it. started: 8 bytes, when its handler did.
local DONE, CANCELLED, DIED = 1, 2, 3
local NEVER = string.rep('\0', 8) -- of started
local KEEP_MAX = 90 * 86400000000
local ends, untils, by = {}, {}, nil

local function end_timer(id, value, how, reason, started, result)
	local topic, keep = topic_of(value), own_keep(value)
	if keep == 0 then
		keep = topic_keep(topic)
	end
	if keep == 0 or #topic > 63 then
		return
	end
	if not by then
		call('HLEN', ENDS) -- these two fail before the script's first write
		call('ZCARD', UNTILS)
		by = ender()
	end
	local flags, attempt = words_of('<I4I4', value)
	local till = now + math.min(keep, KEEP_MAX)
	insert(ends, id)
	insert(ends, pack('<BBBBBBI2', 1, how, reason, #topic, #by, 0, #result) ..
		sub(value, 9, 24) .. started ..
		pack('<I8I8I4I4', now, till, attempt, math.floor(flags / 65536) % 256) ..
		topic .. by .. result)
	insert(untils, digits(till))
	insert(untils, id)
end

-- write_ends: with the ends that it writes, at most 64 go that have expired, or are too many for a
-- shard.
local function write_ends()
	if not ends[1] then
		return
	end
	call('HSET', ENDS, unpack(ends))
	call('ZADD', UNTILS, unpack(untils))
	local over = call('ZCARD', UNTILS) - math.floor(1000000 / shards)
	local old = over > 0 and call('ZRANGE', UNTILS, 0, math.min(over, 64) - 1) or
		call('ZRANGEBYSCORE', UNTILS, '-inf', digits(now), 'LIMIT', 0, 64)
	write('HDEL', ENDS, old)
	write('ZREM', UNTILS, old)
end

-- letter_name: the member of a dead letter. The zero byte ends the id, because ids have no control
-- characters.
local function letter_name(id, ver)
	return id .. '\0' .. format('%016.0f', ver)
end

-- add_letter: the timer becomes a dead letter of that number, at that time (us). write_letters
-- writes all of them.
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

-- raw: state, open, version and claim of a damaged value, which may be wrong. Missing bytes are
-- read as zero.
local function raw(value)
	local state, open, _, _, ver, _, claim =
		words_of('<BBI2I4I8I8I8', value .. string.rep('\0', 32))
	return state, open, ver, claim
end

-- shard_of: the CRC16 of the id, or of its part in {} as in Redis Cluster, modulo the number of
-- shards.
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

-- client_cancels: two results. Is it too late for a client to cancel this value? And may an earlier
-- claim still start after the value is deleted? A claimed recurring timer is deleted, and has no
-- next occurrence.
local function client_cancels(value)
	local flags = decode(value)
	if not flags then
		local state, open, _, claim = raw(value)
		return false, state ~= 0 or open ~= 0 or claim ~= 0
	end
	if flags % 256 == 1 and rule_at(value) then
		return false, true
	end
	return flags % 256 == 1, flags % 65536 >= 256
end

-- by_hand begins add and cancel_one, which have no session. Returns nil, or an error.
local function by_hand(id)
	call('ZCARD', INDEX)
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

-- post_by_hand ends add and cancel_one: puts news into the inbox and wakes the owner.
local function post_by_hand(id, news)
	call('HSET', META, 'ver', digits(last))
	call('ZADD', INBOX, news, id)
	call('PUBLISH', string.match(LEASE, '^({.*):%d+}:') .. '}:wake', shard)
end

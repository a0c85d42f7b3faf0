-- take: takes messages of a topic's queue, and hides them.
--
-- uses: common queue
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`
-- ARGV      1 topic   2 limit (at most 1000)
-- returns   {'OK', when the next hidden message may be handed out (us), or 0, message, ...}. A
--           message: {entry, delivery, id, data, due, attempt, generation, checksum, retries}. One
--           with the id '' was damaged and is dropped; its checksum says what was wrong.
--           {'NONE'}: the topic has no settings.
--           {'TYPE', key, its type, the right one}: another program has made this key
-- cost      O(1) a message; 3 us of the server
local TOPICS, COUNTS, STREAM, LATER = unpack(KEYS, 10)
local topic, limit = ARGV[1], tonumber(ARGV[2])
local wrong = wrong_type(STREAM, LATER)
if wrong then
	return wrong
end
local text = call('HGET', TOPICS, topic)
if not text then
	return {'NONE'}
end
text = ' ' .. text .. ' '
if (tonumber(string.match(text, ' paused=(%d+)')) or 0) % 2 == 1 or
	call('EXISTS', STREAM) == 0 then
	return {'OK', 0}
end
if redis.pcall('XPENDING', STREAM, 'g').err then -- another program has made the stream
	call('XGROUP', 'CREATE', STREAM, 'g', '0')
end
local present = time_us()
local expire = tonumber(string.match(text, ' expire=(%d+)')) or 0
local hide = setting(text, 'hide', 30000000)
local once = hide < 0
local hide_ms = math.floor(hide / 1000)

local answer, gone, expired, dropped = {'OK', 0}, {}, 0, 0

-- drop tells of a message that another program has damaged. The caller deletes it.
local function drop(entry, delivery, words)
	dropped = dropped + 1
	insert(answer, {entry, digits(delivery), '', '', '0', '0', '0', words .. ': dropped', '0'})
end

-- unpacked: the fields in a member of LATER; nil: it is damaged.
local function unpacked(member)
	local at = find(member, '\0', 1, true) or #member
	local is_packed, fields = pcall(cmsgpack.unpack, sub(member, at + 1))
	if not is_packed or type(fields) ~= 'table' or #fields == 0 or #fields % 2 == 1 then
		return nil
	end
	for _, word in ipairs(fields) do
		if type(word) ~= 'string' then
			return nil
		end
	end
	return fields
end

-- bring_back adds the messages whose time to come back is over.
local function bring_back()
	local due = call('ZRANGE', LATER, '-inf', digits(present), 'BYSCORE', 'LIMIT', 0, limit)
	for _, member in ipairs(due) do
		local fields = unpacked(member)
		call('ZREM', LATER, member)
		if fields then
			call('XADD', STREAM, '*', unpack(fields))
		else
			drop(string.match(member, '^%d+%-%d+') or '?', 0, 'is not packed fields')
		end
	end
end

-- expire_old drops what was pushed too long ago; is_expired asks for the deadline of one message,
-- which may be older.
local function expire_old()
	if expire > 0 then
		local count = call('XTRIM', STREAM, 'MINID', '=',
			digits(math.max(math.floor((present - expire) / 1000), 0)))
		if count > 0 then
			redis.pcall('HINCRBY', COUNTS, 'expired:' .. topic, count)
		end
	end
end

local function is_expired(fields)
	return expire > 0 and present - tonumber(fields.due) > expire
end

-- hand_out adds a message to the answer.
local function hand_out(entry, delivery)
	local fields, words = message_of(entry[2])
	if words then
		insert(gone, entry[1])
		drop(entry[1], delivery, words)
		return
	end
	if is_expired(fields) then
		insert(gone, entry[1])
		expired = expired + 1
		return
	end
	if once then
		insert(gone, entry[1])
	end
	insert(answer, {entry[1], digits(delivery), fields.id, fields.data, fields.due,
		fields.attempt or '0', fields.gen or '0', fields.sum or '', fields.retries or '0'})
end

-- take_again takes messages that were taken before and not answered in time.
local function take_again()
	local from = '0-0'
	for _ = 1, 10 do
		local reply = call('XAUTOCLAIM', STREAM, 'g', 'd', hide_ms, from, 'COUNT',
			limit - (#answer - 2))
		for _, entry in ipairs(reply[2]) do
			if entry and entry[2] then
				local seen = call('XPENDING', STREAM, 'g', entry[1], entry[1], 1)[1]
				hand_out(entry, seen and seen[4] or 1)
			end
		end
		from = reply[1]
		if from == '0-0' or #answer - 2 >= limit then
			return
		end
	end
end

bring_back()
expire_old()
if not once and #answer - 2 < limit then
	take_again()
end
local rounds = 0
while #answer - 2 < limit and rounds < 10 do
	local reply = call('XREADGROUP', 'GROUP', 'g', 'd', 'COUNT', limit - (#answer - 2),
		'STREAMS', STREAM, '>')
	if not reply then
		break
	end
	for _, entry in ipairs(reply[1][2]) do
		hand_out(entry, 1)
	end
	rounds = rounds + 1
end
if gone[1] then
	call('XACK', STREAM, 'g', unpack(gone))
	call('XDEL', STREAM, unpack(gone))
end
if expired > 0 then
	redis.pcall('HINCRBY', COUNTS, 'expired:' .. topic, expired)
end
if dropped > 0 then
	redis.pcall('HINCRBY', COUNTS, 'dropped:' .. topic, dropped)
end

-- comes: when the first message that is hidden may be handed out.
local function comes()
	local taken = call('XPENDING', STREAM, 'g', '-', '+', 1)[1]
	local later = call('ZRANGE', LATER, 0, 0, 'WITHSCORES')[2]
	local soonest = taken and present + math.max(hide - taken[3] * 1000, 0)
	later = tonumber(later)
	if later and (not soonest or later < soonest) then
		soonest = later
	end
	return soonest or 0
end

answer[2] = digits(comes())
return answer

-- take: takes messages of a topic's queue, and hides them. It first takes messages whose time in
-- TAKEN is over, then messages of LATER that come back now, and then messages that wait.
--
-- uses: clock digits queue
--
-- KEYS      m t n q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC
-- ARGV      1 topic   2 limit (at most 1000)   3 the most bytes of their values; one message is
--           taken even if it is larger
--           4 a consumer NAME/NUMBER/, or ''. If there is no message, the script notes that it
--           waits, and the next push publishes 'NUMBER TOPIC' to `{ns}:ready:NAME`, once
--           5 the most bytes of values in the reply; may be left out: the reply has all values
-- returns   {'OK', when the next hidden message may be handed out (us) or 0, token, value, ...}. If
--           the value is '', another program has deleted it, and the message is dropped. If it is a
--           number, the value has this many bytes, and does not fit into the reply. No value of a
--           later message is in the reply, either. Such a message is hidden, and the caller reads
--           its value from MESSAGES. If the number is below 0, the topic hides no messages, so the
--           caller hands the message out only after answer.lua has returned 0 for 'done'.
--           {'NONE'}: the topic has no settings. {'EMPTY'}: the shard has lost its data, and its
--           owner may write the settings again.
--           {'TYPE', key, its type, the right type}: another program has made this key
-- cost      O(log N) and 3 us of server time for each message
-- A message may be hidden for this time (us) longer than the settings say. If it is hidden for even
-- longer, a clock was ahead, and was set back since.
local AHEAD = 10800000000
-- A take looks for such messages only among this many messages at the end of an order.
local LOOKS = 64
local CHUNK = 16 -- most messages that are read at one time; a value has at most 1 MiB
local VALUE_MAX = 1048576 + 512

local text = settings_text()
if not text then
	local wrong = wrong_type()
	return wrong or {call('HEXISTS', META, 'shards') == 1 and 'NONE' or 'EMPTY'}
end
if setting(text, 'paused', 0) % 2 == 1 then
	return {'OK', 0}
end
local limit, bytes_left = tonumber(ARGV[2]), tonumber(ARGV[3])
local shown_left = ARGV[5] and tonumber(ARGV[5]) or math.huge
local expire, hide = setting(text, 'expire', 0), setting(text, 'hide', 30000000)
local is_once = hide < 0
hide = is_once and 30000000 or hide
local answer = {'OK', 0}
local sources = {{order = TAKEN, read = 0}, {order = LATER, read = 0}, {read = 0}}
-- write() adds `held` to TAKEN: scores and tokens. It deletes the messages whose generations are in
-- `gone`.
local held, gone = {}, {}
local expired, dropped = 0, 0
-- This many messages are read at one time. The number is small until the values are known to be
-- small.
local chunk = 1

-- `ahead` has the messages of TAKEN and LATER that were hidden by a clock that was ahead. It also
-- has the times until which they are hidden now.
local ahead = {}

-- find_ahead finds messages of an order that are hidden until after `latest`, as
-- src/topic/returns.h says. It notes that they are hidden until `again` now. If `all` is false, it
-- leaves out times that a caller has given.
local function find_ahead(order, latest, again, all)
	local last = call('ZREVRANGE', order, 0, 0, 'WITHSCORES')
	if not last[1] or tonumber(last[2]) <= latest then
		return
	end
	local members, entries = {}, {}
	last = call('ZREVRANGE', order, 0, LOOKS - 1, 'WITHSCORES')
	for k = 1, #last, 2 do
		local score = tonumber(last[k + 1])
		if score > latest and (all or score % 2 == 1) then
			insert(members, last[k])
			insert(entries, digits(again))
			insert(entries, last[k])
		end
	end
	insert(ahead, {order = order, members = members, entries = entries})
end

local function find_all_ahead()
	local hidden, first = hide > 0 and hide or 30000000, setting(text, 'first', 1000000)
	local most = 2 * math.max(first, setting(text, 'longest', 300000000))
	find_ahead(TAKEN, now() + hidden + AHEAD, now() + hidden, true)
	find_ahead(LATER, now() + most + AHEAD, returns_at(now() + first, true), false)
end

-- bring_forward writes these times. On a full server a script may call ZADD only after a command
-- like ZREM.
local function bring_forward()
	for _, some in ipairs(ahead) do
		if some.members[1] then
			remove(some.order, some.members)
			call('ZADD', some.order, unpack(some.entries))
		end
	end
end

-- next_chunk returns at most `most` members of a source: tokens of TAKEN or LATER whose time has
-- come, or generations of WAITING.
local function next_chunk(source, most)
	if not source.order then
		return call('LRANGE', WAITING, source.read, source.read + most - 1)
	end
	return call('ZRANGE', source.order, '-inf', digits(now()), 'BYSCORE', 'LIMIT', source.read,
		most)
end

-- is_expired returns true if the deadline in the value is too long ago for the topic.
local function is_expired(value)
	return expire > 0 and
		now() - (tonumber(match(value, '^%d+ (%-?%d+) ')) or now()) > expire
end

-- size_of returns the size of a value. If `value` is a number, it is this size.
local function size_of(value)
	return type(value) == 'number' and value or #value
end

-- shown returns the value, or its size if it does not fit into the reply. The reply then has no
-- more values.
local function shown(value)
	local size = size_of(value)
	if size > shown_left then
		shown_left = 0
		return is_once and -size or size
	end
	shown_left = shown_left - size
	return value
end

-- hand_out adds a message to the answer, and notes whether it stays hidden or is deleted.
local function hand_out(member, value)
	local generation, first, retries, deliveries = match(member, TOKEN)
	if not generation then -- it waits, or another program has written this member
		generation, first = match(member, '^%d+$'), digits(now() + #answer / 2)
		retries, deliveries = 0, 0
	end
	insert(gone, generation)
	if generation and value and is_expired(value) then
		expired = expired + 1
		return
	end
	local token = token_of(generation or 0, first, retries, deliveries + 1)
	if not generation or not value then
		dropped = dropped + 1
		value = ''
	elseif not is_once or size_of(value) > shown_left then
		gone[#gone] = nil
		insert(held, digits(now() + hide + #held / 2))
		insert(held, token)
	end
	bytes_left = bytes_left - size_of(value)
	insert(answer, token)
	insert(answer, shown(value))
end

-- room returns how many messages may be read now, so that even the largest values fit.
local function room()
	local most = math.min(chunk, limit - (#answer - 2) / 2, REMOVED_MAX - expired)
	local fit = math.floor(bytes_left / VALUE_MAX)
	if #answer == 2 and fit < 1 then
		fit = 1
	end
	return math.min(most, fit)
end

-- read_values returns the values, or only their sizes if the reply takes no more values. If
-- messages can expire, it always reads the values, because they contain the deadlines.
local function read_values(generations)
	if shown_left > 0 or expire > 0 then
		return call('HMGET', MESSAGES, unpack(generations))
	end
	local sizes = {}
	for k, generation in ipairs(generations) do
		local size = call('HSTRLEN', MESSAGES, generation)
		sizes[k] = size > 0 and size
	end
	return sizes
end

local function read_source(source)
	while true do
		local most = room()
		local members = most > 0 and next_chunk(source, most) or {}
		if not members[1] then
			return
		end
		local generations = {}
		for k, member in ipairs(members) do
			generations[k] = match(member, '^%d+') or ''
		end
		local values = read_values(generations)
		for k, member in ipairs(members) do
			hand_out(member, values[k] or nil)
		end
		source.read = source.read + #members
		chunk = math.min(2 * chunk, CHUNK)
		if #members < most then
			return
		end
	end
end

-- write removes the messages that were read from their orders, and adds the messages in `held` to
-- TAKEN.
local function write()
	for k = 1, 2 do
		local source = sources[k]
		if source.read > 0 then
			remove(source.order, call('ZRANGE', source.order, 0, source.read - 1))
		end
	end
	if sources[3].read > 0 then
		call('LPOP', WAITING, sources[3].read)
	end
	forget(gone)
	bring_forward()
	if held[1] then
		call('ZADD', TAKEN, unpack(held))
	end
	count('expired', expired)
	count('dropped', dropped)
end

-- comes returns the time when the first hidden message may be handed out. It returns now() if this
-- call may have left messages that can be taken at once.
local function comes()
	if room() <= 0 then
		return now()
	end
	local soonest = 0
	for k = 1, 2 do
		local score = tonumber(call('ZRANGE', sources[k].order, 0, 0, 'WITHSCORES')[2])
		if score and (soonest == 0 or score < soonest) then
			soonest = score
		end
	end
	return soonest
end

local function take()
	find_all_ahead()
	for _, source in ipairs(sources) do
		read_source(source)
	end
	write()
	if not answer[3] then
		call('HLEN', MESSAGES) -- this fails if the key has another type
	end
	answer[2] = digits(comes())
	if not answer[3] and ARGV[4] ~= '' then
		register(ARGV[4])
	end
	return answer
end

return answered(take)

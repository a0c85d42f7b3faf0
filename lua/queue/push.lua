-- push: adds messages to the queue of a topic, in the shard of its name. It adds all messages of a
-- group, or none. If the queue has a message of the same generation, this is the same message, and
-- is not added again.
--
-- The script calls as many waiting consumers as there are new messages. A consumer that was called
-- but no longer waits calls push without a group, and the script then calls the next consumer.
--
-- uses: clock digits queue
--
-- KEYS      m t n q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC qc:
-- ARGV      1 topic
--           2.. for each group: its size, and for each of its messages the generation (0: the
--           script makes one), 'DUE ATTEMPT SUM ID' with a newline, and the data
-- returns   {'OK', code, dropped, ...} with two numbers for each group. The code is 0: the group
--           was added; 1: the queue is full; 2: the topic is no queue; 3: the topic's intake is
--           paused, and the group does not come from a timer, because its first generation is 0.
--           `dropped` is how many messages the whole call has dropped; it stands in the last group
--           that was added, and is 0 in the others.
--           {'TYPE', key, its type, the right type}: another program has made this key
-- cost      O(1) and 3 us of server time for each message; O(log N) for each message that is
--           dropped
local text = settings_text() or ''
local is_queue = string.find(text, ' queue=1 ', 1, true)
local is_closed = setting(text, 'paused', 0) >= 2
local refuses = string.find(text, ' overflow=1 ', 1, true)
local most = setting(text, 'max', 100000)
local topic = ARGV[1]
local CHANNELS = match(META, '^({.*):%d+}:') .. '}:ready:'
-- call_some passes over at most this many consumers that do not want the topic or have ended.
local LOOKED_AT_MAX = 256
local answer = {'OK'}
local order, fields, known = {}, {}, {}
local push, last, version, shard, shards = now(), nil, nil, nil, nil

-- new_generation returns the next version of the shard, as next_ver() in common/version.lua does.
local function new_generation()
	if not last then
		local meta = call('HMGET', META, 'ver', 'shards')
		last, shards = tonumber(meta[1]) or 0, tonumber(meta[2]) or 1
		shard = tonumber(match(META, '^{.*:(%d+)}:'))
	end
	local least = now() > last and now() or last + 1
	last = least + (shard - least) % shards
	version = digits(last)
	return version
end

-- find_known finds out which messages are already in the queue. Only messages of timers can be,
-- because these have a generation before they are pushed.
local function find_known()
	local given, at = {}, 2
	while at <= #ARGV do
		local size = tonumber(ARGV[at])
		for k = at + 1, at + 3 * size, 3 do
			if ARGV[k] ~= '0' then
				insert(given, ARGV[k])
			end
		end
		at = at + 1 + 3 * size
	end
	local found = given[1] and call('HMGET', MESSAGES, unpack(given)) or {}
	for k, generation in ipairs(given) do
		known[generation] = found[k] and true
	end
end

-- count_new returns how many messages of a group are not in the queue.
local function count_new(at, size)
	local new = 0
	for k = at + 1, at + 3 * size, 3 do
		new = new + (known[ARGV[k]] and 0 or 1)
	end
	return new
end

local function add_group(at, size)
	for k = at + 1, at + 3 * size, 3 do
		local generation = ARGV[k] ~= '0' and ARGV[k] or new_generation()
		if not known[generation] then
			known[generation] = true
			insert(order, generation)
			insert(fields, generation)
			insert(fields, digits(push) .. ' ' .. ARGV[k + 1] .. ARGV[k + 2])
			push = push + 1
		end
	end
end

-- is_older returns true if the first token was pushed before the second one. If one of the tokens
-- is missing, the other one is older.
local function is_older(token, other)
	local _, first_of_one = match(token or '', TOKEN)
	local _, first_of_other = match(other or '', TOKEN)
	return token and
		(not other or (tonumber(first_of_one) or 0) <= (tonumber(first_of_other) or 0))
end

-- drop_oldest removes the `over` oldest messages, and returns how many it has removed. It first
-- removes messages of TAKEN and LATER, in the order of their pushes. If these are not enough, it
-- removes the first messages of WAITING.
local function drop_oldest(over)
	local taken = call('ZRANGE', TAKEN, 0, over - 1)
	local later = call('ZRANGE', LATER, 0, over - 1)
	local from_taken, from_later, gone = {}, {}, {}
	while #gone < over and #gone < #taken + #later do
		local one, other = taken[#from_taken + 1], later[#from_later + 1]
		local from, token = from_later, other
		if is_older(one, other) then
			from, token = from_taken, one
		end
		insert(from, token)
		insert(gone, match(token, '^%d+') or '')
	end
	local rest = over - #gone
	remove(TAKEN, from_taken)
	remove(LATER, from_later)
	for _, generation in ipairs(rest > 0 and call('LPOP', WAITING, rest) or {}) do
		insert(gone, generation)
	end
	forget(gone)
	return #gone
end

local function write(length)
	if not order[1] then
		return 0
	end
	call('HSET', MESSAGES, unpack(fields))
	call('RPUSH', WAITING, unpack(order))
	if version then
		call('HSET', META, 'ver', version)
	end
	local over = math.min(length + #order - most, REMOVED_MAX)
	return over > 0 and drop_oldest(over) or 0
end

-- call_some calls at most `most` of the consumers in a key, and begins with those that have looked
-- last. It returns how many calls are left. If a channel has no subscriber, its process has ended.
local function call_some(key, most)
	local others, ended = 0, 0
	while most > 0 and others + ended < LOOKED_AT_MAX do
		local consumers = redis.pcall('ZREVRANGE', key, others, others + most + 15)
		for _, consumer in ipairs(consumers) do
			local name, number, prefix = match(consumer, '^(%w+)/(%d+)/(.*)$')
			if name and most > 0 and string.find(topic, prefix, 1, true) == 1 then
				local heard = redis.pcall('PUBLISH', CHANNELS .. name,
					number .. ' ' .. topic)
				local is_heard = type(heard) == 'number' and heard > 0
				most = is_heard and most - 1 or most
				ended = ended + (is_heard and 0 or 1)
				call('ZREM', key, consumer)
			else
				others = others + 1
			end
		end
		if not consumers[1] then
			break
		end
	end
	return most
end

local function push_all()
	local length = call('LLEN', WAITING) + call('ZCARD', TAKEN) + call('ZCARD', LATER)
	local at, dropped_at = 2, nil
	find_known()
	while at <= #ARGV do
		local size, code = tonumber(ARGV[at]), 0
		if is_closed and ARGV[at + 1] == '0' then
			code = 3
		elseif refuses and length + #order + count_new(at, size) > most then
			code = 1
		else
			add_group(at, size)
			dropped_at = #answer + 2
		end
		insert(answer, code)
		insert(answer, 0)
		at = at + 1 + 3 * size
	end
	local dropped = write(length)
	if dropped_at then
		answer[dropped_at] = dropped
	end
	count('dropped', dropped)
	call_some(ALL, call_some(CONSUMERS, ARGV[2] and #order or 1))
	return answer
end

if not is_queue then
	local at = 2
	while at <= #ARGV do
		insert(answer, 2)
		insert(answer, 0)
		at = at + 1 + 3 * tonumber(ARGV[at])
	end
	return wrong_type() or answer
end
return answered(push_all)

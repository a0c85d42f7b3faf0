-- queue_numbers: counts the messages in the queues of topics. The script only reads.
--
-- KEYS      n ... q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC
-- ARGV      topics
-- returns   {'OK', topic, numbers, ...} with two items for each topic. `numbers` is a text of words
--           NAME=NUMBER, as in settings. It is '' if the topic has no messages, has dropped none,
--           and none has expired. A key of another type, which another program has made, counts as
--           empty
-- cost      3 us of server time for each topic
local answer = {'OK'}

-- length returns the length of a list or sorted set. If another program has made the key with
-- another type, the length is 0.
local function length(command, key)
	return tonumber(redis.pcall(command, key)) or 0
end

-- first_due returns the deadline of the message that is handed out next. This is the first message
-- that waits or, if none waits, the first message that is taken.
local function first_due(waiting, taken, messages)
	local first = redis.pcall('LINDEX', waiting, 0) or redis.pcall('ZRANGE', taken, 0, 0)[1]
	local generation = type(first) == 'string' and string.match(first, '^%d+')
	local value = generation and redis.pcall('HGET', messages, generation)
	return type(value) == 'string' and string.match(value, '^%d+ (%-?%d+) ') or 0
end

for k, topic in ipairs(ARGV) do
	local waiting, taken, later, messages = unpack(KEYS, 4 * k - 2, 4 * k + 1)
	local counts = redis.pcall('HMGET', COUNTS, 'dropped:' .. topic, 'expired:' .. topic)
	local sums = {length('LLEN', waiting), length('ZCARD', taken), length('ZCARD', later)}
	local sum = sums[1] + sums[2] + sums[3]
	answer[2 * k] = topic
	answer[2 * k + 1] = (sum > 0 or counts[1] or counts[2]) and string.format(
		' waiting=%d taken=%d later=%d dropped=%s expired=%s first_due=%s',
		sums[1], sums[2], sums[3], counts[1] or 0, counts[2] or 0,
		first_due(waiting, taken, messages)) or ''
end
return answer

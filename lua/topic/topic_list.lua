-- topic_list: the settings of topics that the shard has, the drops that it remembers, and the
-- numbers of the queues that are in it. Reads only.
--
-- uses: settings
--
-- KEYS      `m`, `t`; the other keys are named from `t`
-- ARGV      1 topic, or '': all   2 '1': with the numbers of queues and of the owner
-- returns   {'OK', how many topics have settings, name, text, numbers, ...}. With '1', while a
--           process has the lease, the first name is '': the text is the numbers that the owner
--           has told, and the lease's holder is behind it. The text 'ver=N gone=1' is a drop
--           A key of another type, which another program has made, counts as empty
-- cost      O(N) topics; 3 us of the server for each queue. Of one topic O(1)
local LEASE = prefix .. 'l'
local topic, has_numbers = ARGV[1], ARGV[2] == '1'
local has_topics, has_drops = is_hash(TOPICS), is_hash(DROPPED)
local answer = {'OK', 0}

-- first_due: of the message that is handed out next among those that wait, or else are taken.
local function first_due(waiting, taken, messages)
	local first = redis.pcall('LINDEX', waiting, 0) or redis.pcall('ZRANGE', taken, 0, 0)[1]
	local generation = type(first) == 'string' and match(first, '^%d+')
	local value = generation and redis.pcall('HGET', messages, generation)
	return type(value) == 'string' and match(value, '^%d+ (%-?%d+) ') or 0
end

-- numbers: those of a queue, as text behind its settings; '': it has none, and had none.
local function numbers(topic)
	local waiting, taken, later, messages = queue_keys(topic)
	local counts = is_hash(prefix .. 'n') and
		call('HMGET', prefix .. 'n', 'dropped:' .. topic, 'expired:' .. topic) or {}
	local sums = {length('LLEN', waiting), length('ZCARD', taken), length('ZCARD', later)}
	if sums[1] + sums[2] + sums[3] == 0 and not counts[1] and not counts[2] then
		return ''
	end
	return string.format(' waiting=%d taken=%d later=%d dropped=%s expired=%s first_due=%s',
		sums[1], sums[2], sums[3], counts[1] or 0, counts[2] or 0,
		first_due(waiting, taken, messages))
end

local function add(name, text)
	insert(answer, name)
	insert(answer, text)
	insert(answer, has_numbers and numbers(name) or '')
end

if has_numbers and call('EXISTS', LEASE) == 1 and is_hash(META) then
	insert(answer, '')
	insert(answer, has_topics and call('HGET', TOPICS, '') or '')
	insert(answer, call('HGET', META, 'holder') or '')
end
if has_topics then -- the numbers that the owner tells are no topic
	answer[2] = call('HLEN', TOPICS) - call('HEXISTS', TOPICS, '')
end
if topic ~= '' then
	local text = has_topics and has_drops and settings_of(topic)
	if text then
		add(topic, text)
	end
	return answer
end
local fields = has_topics and call('HGETALL', TOPICS) or {}
for k = 1, #fields, 2 do
	if fields[k] ~= '' then
		add(fields[k], fields[k + 1])
	end
end
local dropped = has_drops and call('HGETALL', DROPPED) or {}
for k = 1, #dropped, 2 do
	insert(answer, dropped[k])
	insert(answer, 'ver=' .. dropped[k + 1] .. ' gone=1')
	insert(answer, '')
end
return answer

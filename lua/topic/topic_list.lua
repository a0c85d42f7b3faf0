-- topic_list: the settings of topics that the shard has, the drops that it remembers, and the
-- numbers of the queues that are in it. Reads only.
--
-- uses: common topic
--
-- KEYS      the nine of the shard, and `t`; the other keys are named from it
-- returns   {'OK', name, text, numbers, ...}. While a process has the lease, the first name is '':
--           the text is the numbers that the owner has told, and the lease's holder is behind it.
--           The text 'ver=N gone=1' is a drop
--           A key of another type, which another program has made, counts as empty
-- cost      O(N) topics; 3 us of the server for each queue
local answer = {'OK'}
local fields = is_hash(TOPICS) and call('HGETALL', TOPICS) or {}

-- numbers: those of a queue, as text behind its settings.
local function numbers(topic)
	local stream = prefix .. 'q:' .. topic
	local length = call('XLEN', stream)
	local later = tonumber(redis.pcall('ZCARD', prefix .. 'y:' .. topic)) or 0
	local counts = is_hash(prefix .. 'n') and
		call('HMGET', prefix .. 'n', 'dropped:' .. topic, 'expired:' .. topic) or {}
	local taken, first_due = 0, 0
	if length > 0 then
		local entry = call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
		-- An error has no number: another program has made the stream, without its group.
		taken = tonumber(redis.pcall('XPENDING', stream, 'g')[1]) or 0
		for k = 1, #entry[2], 2 do
			if entry[2][k] == 'due' then
				first_due = entry[2][k + 1]
			end
		end
	end
	return format(' waiting=%d taken=%d later=%d dropped=%s expired=%s first_due=%s',
		math.max(length - taken, 0), math.min(taken, length), later, counts[1] or 0,
		counts[2] or 0, first_due)
end

if call('EXISTS', LEASE) == 1 and is_hash(META) then
	insert(answer, '')
	insert(answer, is_hash(TOPICS) and call('HGET', TOPICS, '') or '')
	insert(answer, call('HGET', META, 'holder') or '')
end
for k = 1, #fields, 2 do
	local topic, counts = fields[k], ''
	-- Another program may have made a key of another type. The other topics have their numbers.
	if topic ~= '' and call('TYPE', prefix .. 'q:' .. topic).ok == 'stream' then
		counts = numbers(topic)
	end
	if topic ~= '' then
		insert(answer, topic)
		insert(answer, fields[k + 1])
		insert(answer, counts)
	end
end
local dropped = is_hash(DROPPED) and call('HGETALL', DROPPED) or {}
for k = 1, #dropped, 2 do
	insert(answer, dropped[k])
	insert(answer, 'ver=' .. dropped[k + 1] .. ' gone=1')
	insert(answer, '')
end
return answer

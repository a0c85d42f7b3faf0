-- push: adds messages to the queue of a topic, in the shard of its name. The messages of a group
-- are added all, or none.
--
-- uses: common queue
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`
-- ARGV      1 topic   2 the channel to tell   3.. for each group: its size, and for each message
--           it: its id, a newline and, each behind a space, due (us), attempt, generation (0: one
--           is made) and the checksum of its record; and its data
-- returns   {'OK', code, dropped, ...}, for each group; code: 0; 1 the queue is full; 2 the topic
--           is no queue; 3 its intake is paused, and the group has no timer: its first generation
--           is 0.
--           {'TYPE', key, its type, the right one}: another program has made this key
-- cost      O(1) a message; 3 us of the server
local TOPICS, COUNTS, STREAM, LATER = unpack(KEYS, 10)
local topic = ARGV[1]
local wrong = wrong_type(STREAM, LATER)
if wrong then
	return wrong
end
local text = ' ' .. (call('HGET', TOPICS, topic) or '') .. ' '
local queue = string.find(text, ' queue=1 ', 1, true)
local closed = (tonumber(string.match(text, ' paused=(%d+)')) or 0) >= 2
local most = setting(text, 'max', 100000)
local refuses = string.find(text, ' overflow=1 ', 1, true)
local length = queue and call('XLEN', STREAM) + call('ZCARD', LATER) or 0
local answer, added, at = {'OK'}, false, 3
local ver = call('HGET', META, 'ver')

-- generation: the one given, or the next one of the shard.
local function generation(given)
	if given ~= '0' then
		return given
	end
	if not now then
		begin(ver, call('HGET', META, 'shards') or 1)
	end
	return digits(next_ver(''))
end

-- make_group: another program may have deleted the stream, or made it without its group.
local function make_group()
	if redis.pcall('XPENDING', STREAM, 'g').err then
		call('XGROUP', 'CREATE', STREAM, 'g', '0', 'MKSTREAM')
	end
end

local function add(size)
	make_group()
	for k = at + 1, at + 2 * size, 2 do
		local id, due, attempt, gen, sum = string.match(ARGV[k],
			'^([^\n]*)\n (%S+) (%S+) (%S+) (%S+)$')
		call('XADD', STREAM, '*', 'id', id, 'data', ARGV[k + 1], 'due', due, 'attempt',
			attempt, 'gen', generation(gen), 'sum', sum)
	end
	length = length + size
	added = true
	if length <= most then
		return 0
	end
	local dropped = call('XTRIM', STREAM, 'MAXLEN', math.max(most - call('ZCARD', LATER), 0))
	length = length - dropped
	if dropped > 0 then
		redis.pcall('HINCRBY', COUNTS, 'dropped:' .. topic, dropped)
	end
	return dropped
end

-- is_new: does the group at `at` have no timer? A timer was accepted before, so it enters.
local function is_new()
	return find(ARGV[at + 1], '\n %S+ %S+ 0 %S+$') ~= nil
end

while at <= #ARGV do
	local size = tonumber(ARGV[at])
	local code, dropped = 0, 0
	if not queue then
		code = 2
	elseif closed and is_new() then
		code = 3
	elseif refuses and length + size > most then
		code = 1
	else
		dropped = add(size)
	end
	insert(answer, code)
	insert(answer, dropped)
	at = at + 1 + 2 * size
end
if now and last ~= first then
	call('HSET', META, 'ver', digits(last))
end
if added then
	call('PUBLISH', ARGV[2], topic)
end
return answer

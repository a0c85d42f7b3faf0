-- queue: what the scripts of queues share.
--
-- uses: clock digits
--
-- A message is a field of MESSAGES, its generation, and its place is in one of three orders:
--
--	WAITING   a list, in the order of pushes: its generation
--	TAKEN     a sorted set, by the time when it is handed out again (us): its token
--	LATER     a sorted set, by the time when it comes back: its token
--
-- A token is GENERATION-FIRST-RETRIES/DELIVERIES. FIRST is the time when it was taken first (us):
-- messages are taken first in the order of their pushes. A message never returns to WAITING, so all
-- in TAKEN and LATER were pushed before all in WAITING.
-- A value of MESSAGES is 'PUSH DUE ATTEMPT SUM ID', a newline, and the data: lua/README.md.
-- Everything is read before the first write, because Redis does not undo the writes of a script.
-- The first write needs no memory, except in push.lua: a full server can be emptied.
local call, insert, match = redis.call, table.insert, string.match
local TOKEN = '^(%d+)%-(%d+)%-(%d+)/(%d+)$'
local NONE = 4294967295 -- a setting that says none, where 0 is the default
local WAITS_FOR = 5000000 -- us; a consumer that waits looks each second, and registers again
local REMOVED_MAX = 1000 -- messages that one call removes because of the bound or their age

-- setting: a number in the text of settings, which begins with a blank; 0 is the default.
local function setting(text, word, default)
	local value = tonumber(match(text, ' ' .. word .. '=(-?%d+)')) or 0
	return value == 0 and default or value
end

-- returns_at: a time until which a retry waits. Its lowest bit says whether it was computed or
-- given, as in src/topic/returns.h.
local function returns_at(time, is_computed)
	return time - time % 2 + (is_computed and 1 or time % 2 * 2)
end

-- settings_text: the settings of the topic, between blanks; nil: it has none.
local function settings_text()
	local text = redis.pcall('HGET', TOPICS, ARGV[1])
	return type(text) == 'string' and ' ' .. text .. ' ' or nil
end

-- wrong_type: an answer that names the first key that another program has made with another type.
local function wrong_type()
	local types = {META, 'hash', TOPICS, 'hash', COUNTS, 'hash', WAITING, 'list', TAKEN, 'zset',
		LATER, 'zset', MESSAGES, 'hash', CONSUMERS, 'zset'}
	for k = 1, #types, 2 do
		local found = call('TYPE', types[k]).ok
		if found ~= types[k + 1] and found ~= 'none' then
			return {'TYPE', types[k], found, types[k + 1]}
		end
	end
	return nil
end

-- answered: what the function returns, or which key made it fail, or the error of the server, for
-- example OOM, as it would be without the pcall.
local function answered(main)
	local is_done, answer = pcall(main)
	if is_done then
		return answer
	end
	local wrong = wrong_type()
	if wrong then
		return wrong
	end
	if match(answer, '^%u+ ') then
		return redis.error_reply(answer)
	end
	error(answer, 0)
end

-- count adds to a number of the topic. If another program has damaged it, the queue goes on.
local function count(word, number)
	if number > 0 then
		redis.pcall('HINCRBY', COUNTS, word .. ':' .. ARGV[1], number)
	end
end

local function token_of(generation, first, retries, deliveries)
	return generation .. '-' .. first .. '-' .. retries .. '/' .. deliveries
end

-- remove takes members out of TAKEN or LATER.
local function remove(order, members)
	if members[1] then
		call('ZREM', order, unpack(members))
	end
end

local function forget(generations)
	if generations[1] then
		call('HDEL', MESSAGES, unpack(generations))
	end
end

-- register notes a consumer that waits, NAME/NUMBER/PREFIX, and forgets a few that have ended. On
-- a full server it is not noted, and looks each second.
local function register(consumer)
	local ended = redis.pcall('ZRANGE', CONSUMERS, '-inf', digits(now() - WAITS_FOR), 'BYSCORE',
		'LIMIT', 0, 16)
	if ended[1] then
		call('ZREM', CONSUMERS, unpack(ended))
	end
	redis.pcall('ZADD', CONSUMERS, digits(now()), consumer)
end

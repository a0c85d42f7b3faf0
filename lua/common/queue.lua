-- queue: defines what the scripts of queues share.
--
-- uses: clock digits
--
-- A message is a field of MESSAGES. The name of the field is the generation of the message. The
-- message also has a place in one of three orders:
--
--	WAITING   a list of generations, in the order of the pushes
--	TAKEN     a sorted set of tokens, by the time when the message is handed out again (us)
--	LATER     a sorted set of tokens, by the time when the message comes back (us)
--
-- A token is GENERATION-FIRST-RETRIES/DELIVERIES. FIRST is the time when the message was taken
-- first (us). Messages are taken first in the order of their pushes, so FIRST shows which of two
-- messages was pushed first. A message never returns to WAITING, so all messages in TAKEN and LATER
-- were pushed before all messages in WAITING.
-- A value of MESSAGES is 'PUSH DUE ATTEMPT SUM ID', a newline, and the data: see lua/README.md.
-- A script reads everything before its first write, because Redis does not undo the writes of a
-- script. The first write needs no memory, except in push.lua. So a queue on a full server can be
-- emptied.
local call, insert, match = redis.call, table.insert, string.match
local TOKEN = '^(%d+)%-(%d+)%-(%d+)/(%d+)$'
local NONE = 4294967295 -- a setting with this value means none; 0 means the default
local WAITS_FOR = 5000000 -- us; a consumer that has not registered again for this time has ended
local REMOVED_MAX = 1000 -- most messages that one call drops, by the bound or by age

-- setting returns a number from the text of the settings, which begins with a blank. If the number
-- is 0 or missing, it returns the default.
local function setting(text, word, default)
	local value = tonumber(match(text, ' ' .. word .. '=(-?%d+)')) or 0
	return value == 0 and default or value
end

-- returns_at returns a time until which a retry waits. The lowest bit of the result is 1 if the
-- time was computed, and 0 if a caller has given it, as in src/topic/returns.h.
local function returns_at(time, is_computed)
	return time - time % 2 + (is_computed and 1 or time % 2 * 2)
end

-- settings_text returns the settings of the topic, between two blanks. It returns nil if the topic
-- has none.
local function settings_text()
	local text = redis.pcall('HGET', TOPICS, ARGV[1])
	return type(text) == 'string' and ' ' .. text .. ' ' or nil
end

-- wrong_type returns an answer that names the first key that another program has made with another
-- type. It returns nil if there is no such key.
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

-- answered returns the result of the function. If the function fails because of a key with a wrong
-- type, answered returns an answer that names the key. Any other error of the server, for example
-- OOM, stays the same error.
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

-- count adds `number` to a count of the topic. If another program has damaged the count, the queue
-- still works.
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

-- register notes a consumer that waits, NAME/NUMBER/PREFIX. It also removes a few consumers that no
-- longer wait. A full server does not note the consumer, and the consumer still looks each second.
local function register(consumer)
	local ended = redis.pcall('ZRANGE', CONSUMERS, '-inf', digits(now() - WAITS_FOR), 'BYSCORE',
		'LIMIT', 0, 16)
	if ended[1] then
		call('ZREM', CONSUMERS, unpack(ended))
	end
	redis.pcall('ZADD', CONSUMERS, digits(now()), consumer)
end

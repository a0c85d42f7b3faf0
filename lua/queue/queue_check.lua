-- queue_check: checks the queue of a topic, one page of messages in each call. The script only
-- reads.
--
-- uses: base
--
-- KEYS      q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC
-- ARGV      1 the place where the last page ended, or '' for the first page
--           2 about how many messages a page has
-- returns   {place, key, what is wrong there, ...}. The place is where the page ends; '': all is
--           checked
-- cost      O(N) messages of the page
local format = string.format
local most = tonumber(ARGV[2])
local flaws = {''}
local ORDERS = {
	{key = MESSAGES, type = 'hash', scan = 'HSCAN'},
	{key = TAKEN, type = 'zset', scan = 'ZSCAN'},
	{key = LATER, type = 'zset', scan = 'ZSCAN'},
	{key = WAITING, type = 'list'},
	{key = CONSUMERS, type = 'zset'},
}

local function flaw(key, what)
	insert(flaws, key)
	insert(flaws, what)
end

local function check_value(key, generation, value)
	local due, id, data = string.match(value, '^%d+ (%-?%d+) %d+ [%d-]+ ([^\n]*)\n()')
	local words
	if not string.find(generation, '^%d+$') or not due then
		words = 'has no head'
	elseif #id < 1 or #id > 255 or string.find(id, '[%z\1-\31\127]') then
		words = 'has no valid id'
	elseif #due > 20 then
		words = 'has no valid due'
	elseif #value - data + 1 > 1048576 then
		words = 'has more than 1 MiB'
	end
	if words then
		generation = sub(generation, 1, 40)
		flaw(key, format('the message %s %s: the next take drops it', generation, words))
	end
end

local function check_token(key, token)
	if not string.find(token, '^%d+%-%d+%-%d+/%d+$') then
		flaw(key, format('%s is no token of a message: the take that finds it drops it',
			sub(token, 1, 40)))
	end
end

-- check_sums compares the number of messages with the sizes of the orders, because each message is
-- in one order. They differ if another program has changed one of these keys.
local function check_sums()
	local values = call('HLEN', MESSAGES)
	local sum = call('LLEN', WAITING) + call('ZCARD', TAKEN) + call('ZCARD', LATER)
	if values ~= sum then
		flaw(MESSAGES, format('has %d messages, and the orders have %d', values, sum))
	end
end

local function check_types()
	for _, order in ipairs(ORDERS) do
		local found = call('TYPE', order.key).ok
		if found ~= order.type and found ~= 'none' then
			local old = found == 'stream' and ' (an old queue)' or ''
			flaw(order.key, format('is of the type %s instead of %s%s: rename or ' ..
				'delete it', found, order.type, old))
			return false
		end
	end
	return true
end

-- check_messages checks the messages from the place NUMBER:CURSOR on. It returns the place where
-- the page ends, or '' if no messages are left.
local function check_messages(place)
	local number, cursor = string.match(place, '^(%d):(%d+)$')
	number = tonumber(number or 1)
	local order = ORDERS[number]
	local page = call(order.scan, order.key, cursor or '0', 'COUNT', most)
	for k = 1, #page[2], 2 do
		if order.scan == 'HSCAN' then
			check_value(order.key, page[2][k], page[2][k + 1])
		else
			check_token(order.key, page[2][k])
		end
	end
	if page[1] == '0' then
		number = number + 1
	end
	return ORDERS[number].scan and number .. ':' .. page[1] or ''
end

if ARGV[1] == '' then
	if not check_types() then
		return flaws
	end
	check_sums()
end
local place = ARGV[1]
for _ = 1, 4 do
	place = check_messages(place)
	if place == '' then
		break
	end
end
flaws[1] = place
return flaws

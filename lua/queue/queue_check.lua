-- queue_check: what is wrong with the queues of the shard, a page of their messages. Reads only.
--
-- uses: base
--
-- KEYS      the nine of the shard, and `t`; the queues' keys are named from it
-- ARGV      1 the topic where the last page ended, '' at first   2 its place, '' at first
--           3 how many messages a page has, about
-- returns   {topic, place, key, what is wrong, ...}: where the page ends; topic '': all are checked
-- cost      O(N log N) topics of the shard, and O(N) messages of the page
local format = string.format
local TOPICS = KEYS[10]
local prefix = sub(TOPICS, 1, -2)
local most = tonumber(ARGV[3])
local flaws = {'', ''}
local ORDERS = {
	{name = 'qm:', type = 'hash', scan = 'HSCAN'},
	{name = 'qt:', type = 'zset', scan = 'ZSCAN'},
	{name = 'ql:', type = 'zset', scan = 'ZSCAN'},
	{name = 'q:', type = 'list'},
	{name = 'qc:', type = 'zset'},
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

-- check_sums: each message is in one order. Another program may have changed one of them.
local function check_sums(topic)
	local values = call('HLEN', prefix .. 'qm:' .. topic)
	local sum = call('LLEN', prefix .. 'q:' .. topic) +
		call('ZCARD', prefix .. 'qt:' .. topic) + call('ZCARD', prefix .. 'ql:' .. topic)
	if values ~= sum then
		flaw(prefix .. 'qm:' .. topic, format('has %d messages, and the orders have %d',
			values, sum))
	end
end

local function check_types(topic)
	for _, order in ipairs(ORDERS) do
		local key = prefix .. order.name .. topic
		local found = call('TYPE', key).ok
		if found ~= order.type and found ~= 'none' then
			flaw(key, format('is of the type %s instead of %s%s: rename or delete it',
				found, order.type, found == 'stream' and ' (an old queue)' or ''))
			return false
		end
	end
	return true
end

-- check_queue looks at the messages from a place on, NUMBER:CURSOR. It returns the place where the
-- page ends; nil: nothing is left.
local function check_queue(topic, place)
	if place == '' then
		if not check_types(topic) then
			return nil
		end
		check_sums(topic)
	end
	local number, cursor = string.match(place, '^(%d):(%d+)$')
	number = tonumber(number or 1)
	local order = ORDERS[number]
	local key = prefix .. order.name .. topic
	local page = call(order.scan, key, cursor or '0', 'COUNT', most)
	for k = 1, #page[2], 2 do
		if order.scan == 'HSCAN' then
			check_value(key, page[2][k], page[2][k + 1])
		else
			check_token(key, page[2][k])
		end
	end
	if page[1] == '0' then
		number = number + 1
	end
	return ORDERS[number].scan and number .. ':' .. page[1]
end

-- check_hash: has the key the right type? It is told once, on the first page.
local function check_hash(key)
	local found = call('TYPE', key).ok
	if found == 'hash' or found == 'none' then
		return true
	end
	if ARGV[1] == '' then
		flaw(key, format('is of the type %s instead of hash: rename or delete it', found))
	end
	return false
end

check_hash(prefix .. 'u')
check_hash(prefix .. 'n')
if not check_hash(TOPICS) then
	return flaws
end
local all, topics = call('HGETALL', TOPICS), {}
for k = 1, #all, 2 do
	insert(topics, all[k])
end
table.sort(topics)
local scans = 4 -- of one page
for _, topic in ipairs(topics) do
	local is_same = topic == ARGV[1]
	local place = is_same and ARGV[2] or ''
	if topic ~= '' and (topic > ARGV[1] or (is_same and place ~= '')) then
		repeat
			place = check_queue(topic, place)
			scans = scans - 1
		until not place or scans == 0
		if scans <= 0 then
			flaws[1], flaws[2] = topic, place or ''
			break
		end
	end
end
return flaws

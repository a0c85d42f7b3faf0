-- page: the timers after a place, by deadline, or those of them that are wanted. Reads only.
--
-- A place is a score and a member, because a rank would skip a timer if another one before it were
-- deleted between two pages. The place is found again even if its member is gone.
--
-- uses: base topic value
--
-- KEYS      z h
-- ARGV      1 '+' pending, '-' claimed   2 how many it looks at (at most 1000)
--           3 score, 4 member: the last ones of the page before; '' and '' from the start
--           5 's': return all scores. Else which timers are wanted, may be left out: 'r': those
--           whose value may have a rule; '': any   6 what their ids begin with   7 their topic
-- returns   {{id, ...}, {value or false, ...}, how many it looked at, score and member of the last
--           of these}. Without the last two nothing is behind. With 's' {score, ...} is the third.
--           Pending timers come by score and member, claimed ones in the reverse order. All scores
--           are returned only on request, because writing them takes more time than all the rest,
--           and the values contain the deadlines too. false: an entry without a value
-- cost      O(log N + limit); 1 to 3 us of the server for each timer that it looks at
local pending, limit, place, member = ARGV[1] == '+', tonumber(ARGV[2]), ARGV[3], ARGV[4]
local RANK = pending and 'ZRANK' or 'ZREVRANK'
local RANGE = pending and 'ZRANGE' or 'ZREVRANGE'

-- is_before: compares by bytes. Lua's own comparison depends on the locale of the server.
local function is_before(a, b)
	for i = 1, math.min(#a, #b) do
		local x, y = string.byte(a, i), string.byte(b, i)
		if x ~= y then
			return x < y
		end
	end
	return #a < #b
end

-- rank_behind: the rank of the first entry after the place, in the direction of the page.
local function rank_behind()
	local known = call('ZSCORE', TIMERS, member)
	if known and tonumber(known) == tonumber(place) then
		return call(RANK, TIMERS, member) + 1
	end
	local low, high
	if pending then
		low = call('ZCOUNT', TIMERS, '-inf', '(' .. place)
		high = call('ZCOUNT', TIMERS, '-inf', place)
	else
		low = call('ZCOUNT', TIMERS, '(' .. place, '+inf')
		high = call('ZCOUNT', TIMERS, place, '+inf')
	end
	while low < high do -- search among equal scores
		local middle = math.floor((low + high) / 2)
		local found = call(RANGE, TIMERS, middle, middle)[1]
		local behind = is_before(member, found)
		if not pending then
			behind = is_before(found, member)
		end
		if behind then
			high = middle
		else
			low = middle + 1
		end
	end
	return low
end

local from
if place ~= '' then
	from = rank_behind()
elseif pending then
	from = call('ZCOUNT', TIMERS, '-inf', '(0')
else
	from = call('ZCOUNT', TIMERS, 0, '+inf')
end
local ids = call(RANGE, TIMERS, from, from + limit - 1)
local looked, last = #ids, ids[limit]

-- keep_prefix: the ids that begin with these bytes.
local function keep_prefix(prefix)
	local kept = {}
	for k = 1, looked do
		if sub(ids[k], 1, #prefix) == prefix then
			insert(kept, ids[k])
		end
	end
	return kept
end

-- keep_values: the ids and values of this topic, and with a rule.
local function keep_values(values, ruled, topic)
	local kept, bodies, count = {}, {}, 0
	for k = 1, #ids do
		local value = values[k]
		if not value or ((not topic or topic_of(value) == topic) and
			(not ruled or (string.byte(value, BODY) or 0) % WHY == 3)) then
			count = count + 1
			kept[count], bodies[count] = ids[k], value
		end
	end
	return kept, bodies
end

if ARGV[6] and ARGV[6] ~= '' then
	ids = keep_prefix(ARGV[6])
end
local values = ids[1] and call('HMGET', VALUES, unpack(ids)) or {}
if ARGV[5] == 's' then
	return {ids, values, ids[1] and call('ZMSCORE', TIMERS, unpack(ids)) or {}}
end
if ARGV[5] == 'r' or ARGV[7] then
	ids, values = keep_values(values, ARGV[5] == 'r', ARGV[7])
end
if last then
	return {ids, values, looked, call('ZSCORE', TIMERS, last), last}
end
return {ids, values, looked}

-- page: returns the timers after a place, by deadline. It may leave out timers that the caller does
-- not want. The script only reads.
--
-- A place is a score and a member. It is not a rank: if a timer before that rank were deleted
-- between two pages, the second page would miss a timer. The place is found again even if its
-- member is gone.
--
-- uses: base topic value
--
-- KEYS      z h
-- ARGV      1 '+': pending timers, '-': claimed timers   2 at how many timers the script looks (at
--           most 1000)
--           3 score, 4 member: the last ones of the page before, or '' and '' for the first page
--           5 's': the scores are returned; 'r': only timers whose value may have a rule are
--           wanted; '' or left out: neither
--           6 the first bytes of the wanted ids, or ''; may be left out   7 the wanted topic; may
--           be left out
-- returns   {{id, ...}, {value or false, ...}, at how many timers the script has looked, score and
--           member of the last of these}. If the last two are missing, no timers are left. With 's'
--           the third item is {score, ...}, and no other follows. Pending timers come by score and
--           member, claimed timers in the reverse order. The scores are returned only on request,
--           because writing them takes more time than all the rest, and the values contain the
--           deadlines, too. false means that the entry has no value
-- cost      O(log N + limit); 1 to 3 us of server time for each timer that the script looks at
local pending, limit, place, member = ARGV[1] == '+', tonumber(ARGV[2]), ARGV[3], ARGV[4]
local RANK = pending and 'ZRANK' or 'ZREVRANK'
local RANGE = pending and 'ZRANGE' or 'ZREVRANGE'

-- is_before compares two members by bytes, because Lua's own comparison depends on the locale of
-- the server.
local function is_before(a, b)
	for i = 1, math.min(#a, #b) do
		local x, y = string.byte(a, i), string.byte(b, i)
		if x ~= y then
			return x < y
		end
	end
	return #a < #b
end

-- rank_behind returns the rank of the first entry after the place, in the direction of the page.
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
	while low < high do -- look for the place among equal scores
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

-- keep_prefix returns the ids that begin with these bytes.
local function keep_prefix(prefix)
	local kept = {}
	for k = 1, looked do
		if sub(ids[k], 1, #prefix) == prefix then
			insert(kept, ids[k])
		end
	end
	return kept
end

-- keep_values returns the ids and values of timers of this topic, or of any topic if it is nil. If
-- `ruled` is true, it returns only timers that may have a rule. It also returns entries without a
-- value.
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

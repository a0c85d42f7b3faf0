-- page: the timers after a place, by deadline. Reads only.
--
-- A place is a score and a member, because a rank would skip a timer if another one before it were
-- deleted between two pages. The place is found again even if its member is gone.
--
-- uses: base
--
-- KEYS      the nine of the shard
-- ARGV      1 '+' pending, '-' claimed   2 limit (at most 1000)
--           3 score, 4 member: the last ones of the page before; '' and '' from the start
--           5 's': return all scores   6 what ids begin with: return '' for the values of others
-- returns   {{id, ...}, {value or false, ...}, score of the last one, or {score, ...} of all}; {}
--           after the end. Pending timers come by score and member, claimed ones in the reverse
--           order. All scores are returned only on request, because writing them takes more time
--           than all the rest, and the values contain the deadlines too
-- cost      O(log N + limit)
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
if not ids[1] then
	return {}
end
local values = call('HMGET', VALUES, unpack(ids))
local prefix = ARGV[6]
for k = 1, prefix and #ids or 0 do
	if values[k] and sub(ids[k], 1, #prefix) ~= prefix then
		values[k] = ''
	end
end
if ARGV[5] == 's' then
	return {ids, values, call('ZMSCORE', TIMERS, unpack(ids))}
end
return {ids, values, call('ZSCORE', TIMERS, ids[#ids])}

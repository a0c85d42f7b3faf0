-- topic_page: the timers of a topic after a place, by deadline, from the index. Reads only.
--
-- uses: base topic
--
-- KEYS      the nine of the shard
-- ARGV      1 topic   2 limit (at most 1000)
--           3 score or '': from the start; 4 '': timers with this score and later ones, or a member
--           of the index: those behind it   5 a score later than the last one wanted, or ''
--           6 what ids begin with: return '' for the values of others
-- returns   {{id, ...}, {value or false, ...}, last member}; {} after the end. false: the member is
--           not that of a stored timer. {'UNEVEN'}: the index has more or fewer members than there
--           are values, so another program has written there, or it was never built. The owner
--           corrects it
-- cost      O(log N + limit)
local topic, prefix = ARGV[1], ARGV[6]
if call('ZCARD', INDEX) ~= call('HLEN', VALUES) then
	return {'UNEVEN'}
end

-- place: where the members of a score begin; '': all of them.
local function place(text)
	return topic .. '\0' .. pack('>I8', tonumber(text) or 0)
end

local from = ARGV[4] == '' and '[' .. place(ARGV[3]) or '(' .. ARGV[4]
local to = '(' .. (ARGV[5] == '' and topic .. '\1' or place(ARGV[5]))
local members = call('ZRANGEBYLEX', INDEX, from, to, 'LIMIT', 0, ARGV[2])
if not members[1] then
	return {}
end
local ids = {}
for k = 1, #members do
	ids[k] = sub(members[k], #topic + 10)
end
local values = call('HMGET', VALUES, unpack(ids))
for k = 1, #ids do
	if not values[k] or member_of(ids[k], values[k]) ~= members[k] then
		values[k] = false
	elseif sub(ids[k], 1, #prefix) ~= prefix then
		values[k] = ''
	end
end
return {ids, values, members[#members]}

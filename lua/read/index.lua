-- index: compares a page of the index by topic with the timers. The owner also corrects it. Our
-- scripts change both together: so another program has written there, or a library that had no
-- index has.
--
-- uses: base topic
--
-- KEYS      the nine of the shard
-- ARGV      1 'k' members that are not those of a timer, 'h' timers without their member
--           2 cursor, '0' at the start   3 the owner's token: the members are deleted or added; '':
--           nothing is changed
-- returns   {cursor ('0' at the end), id, ...}; {'FENCED'}: another token has the lease. The id
--           of a member that is none of ours may be anything
-- cost      O(500 log N)
if ARGV[3] ~= '' and call('GET', LEASE) ~= ARGV[3] then
	return {'FENCED'}
end
local answer, wrong, fresh = {}, {}, {}

-- id_of: the id in a member.
local function id_of(name)
	local zero = string.find(name, '%z')
	return zero and sub(name, zero + 9) or ''
end

-- look_at_members: the members of the page that are wrong.
local function look_at_members(page)
	local ids = {}
	for k = 1, #page, 2 do
		insert(ids, id_of(page[k]))
	end
	local values = ids[1] and call('HMGET', VALUES, unpack(ids))
	for k = 1, #ids do
		local name = page[2 * k - 1]
		if not values[k] or member_of(ids[k], values[k]) ~= name then
			insert(answer, sub(ids[k], 1, 255))
			insert(wrong, name)
		end
	end
end

-- look_at_values: the timers of the page that have no member.
local function look_at_values(page)
	local names = {}
	for k = 1, #page, 2 do
		insert(names, member_of(page[k], page[k + 1]))
	end
	local known = names[1] and call('ZMSCORE', INDEX, unpack(names))
	for k = 1, #names do
		if not known[k] then
			insert(answer, page[2 * k - 1])
			insert(fresh, '0')
			insert(fresh, names[k])
		end
	end
end

local page
if ARGV[1] == 'k' then
	page = call('ZSCAN', INDEX, ARGV[2], 'COUNT', 500)
	look_at_members(page[2])
else
	page = call('HSCAN', VALUES, ARGV[2], 'COUNT', 500)
	look_at_values(page[2])
end
if ARGV[3] ~= '' then
	write('ZREM', INDEX, wrong)
	write('ZADD', INDEX, fresh)
end
return {page[1], unpack(answer)}

-- requeue: turns dead letters into timers again, and deletes the letters.
--
-- uses: args base begin body enter leave letters newer open store store_new value version
--
-- KEYS      l m z h i d D e s:NONCE
-- ARGV      1-6 as README.md says; the role is owner or client
--           7.. for each timer: its id, the version of the letter (0: the last letter of the id),
--           due (8 bytes), and the floor of the new version or ''
-- returns   {'OK', ...} with one item for each timer. {0, value} for an owner, or the header for a
--           client: the timer is stored; 1: the id has a timer; 2: there is no such letter; 5: the
--           letter is damaged; 7: it is of a newer version; or a refusal
-- cost      O(log N) for each timer
local refusal = enter()
if refusal then
	return refusal
end

local ids = column(7, 4)
local values = call('HMGET', VALUES, unpack(ids))
local inbox = inbox_of(ids)
call('ZCARD', DEAD)
call('HLEN', LETTERS)

local answer, made, taken, news = {'OK'}, {}, {}, {}

-- letter_of returns the name and the letter of an id. It passes over a letter that this call has
-- requeued. The call can requeue only one letter of an id, so it is enough to look at the last two.
local function letter_of(id, ver)
	local names = {letter_name(id, ver)}
	if ver == 0 then
		names = call('ZREVRANGEBYLEX', NAMES, '(' .. id .. '\1', '[' .. id .. '\0',
			'LIMIT', 0, 2)
	end
	for _, name in ipairs(names) do
		if not taken[name] then
			return name, call('HGET', LETTERS, name)
		end
	end
	return nil
end

call('ZCARD', NAMES)
for k = 1, #ids do
	local id = ids[k]
	local name, letter = letter_of(id, tonumber(ARGV[4 * k + 4]))
	local item = ENOENT

	if letter and (made[id] or values[k]) then
		item = EEXIST
	elseif letter then
		local value = sub(letter, 18)
		local flags, attempt, _, _, _, _, _, _, crc = decode(value)
		item = flags and NEWER or CORRUPT

		if flags and not is_newer(value) then
			local d0, d1 = words_of('<I4I4', ARGV[4 * k + 5])
			local v0, v1 = halves(next_ver(ARGV[4 * k + 6]))
			local open = math.floor(flags / 256) % 256

			if left_open(inbox[k]) then
				open = 1
			end
			item = encode(open * 256, attempt, v0, v1, d0, d1, 0, 0, crc)
			value = item .. body_of(value)
			made[id], taken[name] = true, true
			insert(taken, name)
			store_timer(id, value, score(d0, d1))
			if owner then
				item = {0, value}
			else
				insert(news, last)
				insert(news, id)
			end
		end
	end
	answer[k + 1] = item
end

local failure = store_new()
if failure then
	return failure
end
write('ZREM', DEAD, taken)
write('HDEL', LETTERS, taken)
write('ZREM', NAMES, taken)
leave(news)
return answer

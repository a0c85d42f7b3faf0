-- put: makes timers, or replaces them.
--
-- KEYS      the nine of the shard
-- ARGV      1-6 as in README.md; role owner or client
--           7.. for each timer: flags (1 only if the id is absent, 2 claimed at once, 4 the owner
--           took its claim back; a client's 2 and 4 do not count), id, due (8 bytes), floor of the
--           version or '', body
-- returns   {'OK', ...}: the new header; 1 the id has a timer; or a refusal; an error, of
--           which OOM is one, has done nothing
-- cost      O(log N) a timer; 2 to 3 us of the server
local refusal = enter()
if refusal then
	return refusal
end

local ids = column(8, 5)
local values = call('HMGET', VALUES, unpack(ids))
local inbox = inbox_of(ids)

local answer, made, scores, stored, news = {'OK'}, {}, {}, {}, {}
local written = 0
for k = 1, #ids do
	local id = ids[k]
	local flags = tonumber(ARGV[5 * k + 2])
	local before = made[id] or values[k]

	if not owner then
		flags = flags % 2
	end
	if before and flags % 2 == 1 then
		answer[k + 1] = EEXIST
	else
		local due, body = ARGV[5 * k + 4], ARGV[5 * k + 6]
		local d0, d1 = words_of('<I4I4', due)
		local crc = words_of('<I4', body, 3)
		local v0, v1 = halves(next_ver(ARGV[5 * k + 5]))
		local open, rank, header = 0, score(d0, d1), nil

		if before then
			open = flags < 4 and is_open(before) and 256 or 0
		elseif left_open(inbox[k]) then
			open = 256
		end
		if flags % 4 >= 2 then
			local c0, c1 = halves(fence)
			header = encode(open + 1, 1, v0, v1, d0, d1, c0, c1, crc)
			rank = -rank
		else
			header = encode(open, 0, v0, v1, d0, d1, 0, 0, crc)
		end
		local value = header .. body
		scores[written + 1], scores[written + 2] = format(WHOLE, rank), id
		stored[written + 1], stored[written + 2] = id, value
		if not owner then
			news[written + 1], news[written + 2] = last, id
		end
		written = written + 2
		made[id] = value
		answer[k + 1] = header
	end
end

local failure = store_new(scores, stored)
if failure then
	return failure
end
leave(news)
return answer

-- retry: makes claimed timers pending again, because the handler has asked for a retry, or the
-- owner gives its claim back.
--
-- uses: args base body inbox owner store value
--
-- KEYS      l m z h i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: id, version, attempt, due (8 bytes), verdict (1: the retry counts),
--           and the text of dw_set_why(), which replaces the earlier text if the retry counts
-- returns   {'OK', ...} with one item for each timer. The header: the timer is pending; 2: there is
--           no such timer; {3, value}: the id has another version or attempt; 5: the value is
--           damaged; 6: another program has deleted the value but not the entry in TIMERS; or a
--           refusal. A repeated retry gets the same answer
-- cost      O(log N) and 3 us of server time for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 6)
local values = call('HMGET', VALUES, unpack(ids))
call('ZCARD', TIMERS)

local answer, made = {'OK'}, {}
for k = 1, #ids do
	local id = ids[k]
	local value = made[id] or values[k]
	local item

	if not value then
		item = missing(id, ARGV[6 * k + 2])
	else
		local flags, attempt, v0, v1, d0, d1, _, _, crc = decode(value)
		local ver, asked = tonumber(ARGV[6 * k + 2]), tonumber(ARGV[6 * k + 3])
		local e0, e1 = words_of('<I4I4', ARGV[6 * k + 4])

		if not flags then
			item = CORRUPT
		elseif v1 * WORD + v0 ~= ver or attempt ~= asked then
			item = {STALE, value}
		elseif flags % 256 == 0 then
			local same = d0 == e0 and d1 == e1
			item = same and sub(value, 1, BODY - 1) or {STALE, value}
		else
			local counts = ARGV[6 * k + 5] == '1'
			local body = sub(value, BODY)

			if counts then
				body = body_with(value, ARGV[6 * k + 6])
			end
			if counts and math.floor(flags / 65536) % 256 < 255 then
				flags = flags + 65536
			end
			item = encode(flags - 1, attempt, v0, v1, e0, e1, 0, 0, crc)
			made[id] = item .. body
			store_timer(id, made[id], score(e0, e1))
		end
	end
	answer[k + 1] = item
end

touch()
write_timers()
use_up()
return answer

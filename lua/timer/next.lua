-- next: stores recurring timers, whose delivery is over, with their next occurrence. Each timer
-- becomes the next version of its id, pending, with attempt 0.
--
-- uses: args base body clock end_timer inbox leave letters owner store value version
--
-- KEYS      l m z h i d D e E x
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: id, version, attempt, reason, when it died (us), a text, its value
--           at the next occurrence, and when its handler started (8 bytes). The reason is 0, or 1
--           to 255 if this occurrence also becomes a dead letter. With a reason the text is that of
--           dw_set_why(), as for bury. Without a reason it is that of dw_set_result(), as for
--           settle. The version in the value is the floor of the next version. A start of 0 means
--           that the handler did not start; then, without a reason, nothing has ended
-- returns   {'OK', ...} with one item for each timer. The new header: the timer was stored; 2:
--           there is no such timer; {3, value}: the id has another version or attempt; 5: the value
--           is damaged; 6: another program has deleted the value but not the entry in TIMERS; or a
--           refusal
-- cost      O(log N) and 4 us of server time for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 8)
local values = call('HMGET', VALUES, unpack(ids))
local number = tonumber(call('HGET', META, 'dead') or 0)
call('ZCARD', TIMERS)
call('ZCARD', DEAD)
call('HLEN', LETTERS)
call('ZCARD', NAMES)

local answer, made = {'OK'}, {}

-- renewed returns the header of an occurrence's value with the next version, and its score.
local function renewed(value)
	local d0, d1 = words_of('<I4I4', value, 17)
	local v0, v1 = halves(next_ver((words_of('<I8', value, 9))))
	return encode(0, 0, v0, v1, d0, d1, 0, 0, (words_of('<I4', value, 39))), score(d0, d1)
end

for k = 1, #ids do
	local id = ids[k]
	local value = made[id] or values[k]
	local item

	if not value then
		item = missing(id, ARGV[8 * k])
	else
		local flags, attempt, v0, v1 = decode(value)
		local ver, reason = tonumber(ARGV[8 * k]), tonumber(ARGV[8 * k + 2])
		local said, given, started = ARGV[8 * k + 4], ARGV[8 * k + 5], ARGV[8 * k + 6]

		if not flags then
			item = CORRUPT
		elseif v1 * WORD + v0 ~= ver or attempt ~= tonumber(ARGV[8 * k + 1]) then
			item = {STALE, value}
		else
			local rank
			item, rank = renewed(given)
			if reason > 0 then
				local at = tonumber(ARGV[8 * k + 3])
				local last_words = value
				if reason == 1 or reason == 5 then
					last_words = sub(value, 1, BODY - 1) ..
						body_with(value, said)
				end
				number = congruent(now() > number and now() or number + 1)
				add_letter(number, id, ver, reason, at, last_words)
				end_timer(id, value, DIED, reason, started, '')
			elseif started ~= NEVER then
				end_timer(id, value, DONE, 0, started, said)
			end
			made[id] = item .. sub(given, BODY)
			store_timer(id, made[id], rank)
		end
	end
	answer[k + 1] = item
end

touch()
write_ends()
write_letters()
write_timers()
leave({})
return answer

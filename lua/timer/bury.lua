-- bury: moves timers to the dead letters.
--
-- uses: args base body clock end_timer letters owner remove value version
--
-- KEYS      l m z h d D e E x
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: id, version, attempt, reason (1 to 255), when it died (us), the
--           text of dw_set_why(), and when its handler started (8 bytes). The text replaces the
--           earlier one if the reason is a verdict: 1 or 5
-- returns   {'OK', ...} with one item for each timer. 0: the timer is a dead letter; 2: there is no
--           such timer; {3, value}: the id has another version or attempt; 5: the value is damaged
--           and has another version; or a refusal. A damaged value of this version is moved as it
--           is, whatever its attempt
-- cost      O(log N) for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 7)
local values = call('HMGET', VALUES, unpack(ids))
local number = tonumber(call('HGET', META, 'dead') or 0)
call('ZCARD', TIMERS)
call('ZCARD', DEAD)
call('HLEN', LETTERS)
call('ZCARD', NAMES)

local answer, gone = {'OK'}, {}
for k = 1, #ids do
	local id, value = ids[k], values[k]
	local item = ENOENT

	if value and not gone[id] then
		local flags, attempt, v0, v1 = decode(value)
		local asked = tonumber(ARGV[7 * k + 1])
		local ver = flags and v1 * WORD + v0 or select(3, raw(value))

		if ver == asked and (not flags or attempt == tonumber(ARGV[7 * k + 2])) then
			item = 0
		else
			item = flags and {STALE, value} or CORRUPT
		end
		if item == 0 then
			local at, reason = tonumber(ARGV[7 * k + 4]), tonumber(ARGV[7 * k + 3])

			if flags then
				end_timer(id, value, DIED, reason, ARGV[7 * k + 6], '')
			end
			if flags and (reason == 1 or reason == 5) then
				value = sub(value, 1, BODY - 1) .. body_with(value, ARGV[7 * k + 5])
			end

			number = congruent(now() > number and now() or number + 1)
			gone[id] = true
			remove_timer(id)
			add_letter(number, id, ver, reason, at, value)
		end
	end
	answer[k + 1] = item
end

touch()
write_ends()
write_letters()
write_removed()
use_up()
return answer

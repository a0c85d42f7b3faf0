-- settle: deletes timers whose delivery is over, and keeps their ends.
--
-- uses: args base end_timer owner remove value
--
-- KEYS      l m z h E x
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: id, version, attempt, when its handler started (8 bytes), and the
--           bytes of dw_set_result() (at most 4096)
-- returns   {'OK', ...} with one item for each timer. 0: the timer was deleted; 2: there is no such
--           timer; {3, value}: the id has another version or attempt; 5: the value is damaged; or a
--           refusal
-- cost      O(log N) and 3 us of server time for each timer, and 3 us more if its end is kept
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 5)
local values = call('HMGET', VALUES, unpack(ids))
call('ZCARD', TIMERS)

local answer, gone = {'OK'}, {}
for k = 1, #ids do
	local id, value = ids[k], values[k]
	local item = ENOENT

	if value and not gone[id] then
		local flags, attempt, v0, v1 = decode(value)
		local ver, asked = tonumber(ARGV[5 * k + 3]), tonumber(ARGV[5 * k + 4])

		if not flags then
			item = CORRUPT
		elseif v1 * WORD + v0 ~= ver or attempt ~= asked then
			item = {STALE, value}
		else
			item = 0
			end_timer(id, value, DONE, 0, ARGV[5 * k + 5], ARGV[5 * k + 6])
		end
	end
	if item == 0 or item == ENOENT then -- without a value too, because TIMERS may have an entry
		gone[id] = true
		remove_timer(id)
	end
	answer[k + 1] = item
end

touch()
write_ends()
write_removed()
use_up()
return answer

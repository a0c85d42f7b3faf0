-- claim: claims timers that the owner is about to start. A timer that is pending, or that an
-- earlier owner had claimed, becomes claimed, and its attempt grows by 1. If earlier owners may
-- have started timers while they were cut off, the attempt grows by more (`jump`), because each of
-- them may have used up to 15 attempts that Redis does not know.
--
-- uses: args base begin digits inbox outage owner value
--
-- KEYS      l m z h i
-- ARGV      1-6 as README.md says; the role is owner
--           7.. for each timer: id, version, and the attempt before the claim
-- returns   {'OK', ...} with one item for each timer. The header: the timer is claimed; 2: there is
--           no such timer; {3, value}: the id has another version or attempt; 5: the value is
--           damaged; 6: another program has deleted the value but not the entry in TIMERS; or a
--           refusal. A repeated claim gets the same answer
-- cost      O(log N) and 4 us of server time for each timer
local refusal = owner_enters()
if refusal then
	return refusal
end

local ids = column(7, 3)
local values = call('HMGET', VALUES, unpack(ids))
call('ZCARD', TIMERS)

local answer, made, scores, stored = {'OK'}, {}, {}, {}
local written = 0
local f0, f1 = halves(fence)
local jumps, far = jump()
for k = 1, #ids do
	local id = ids[k]
	local value = made[id] or values[k]
	local item

	if not value then
		item = missing(id, ARGV[3 * k + 5])
	else
		local flags, attempt, v0, v1, d0, d1, c0, c1, crc = decode(value)
		local asked = tonumber(ARGV[3 * k + 6])
		local claimed = flags and flags % 256 == 1
		local mine = claimed and c0 == f0 and c1 == f1
		local ver = flags and v1 * WORD + v0
		local step = flags and ver <= jumps and far or 1

		if not flags then
			item = CORRUPT
		elseif ver ~= tonumber(ARGV[3 * k + 5]) then
			item = {STALE, value}
		elseif mine and asked + step == attempt then
			item = sub(value, 1, BODY - 1)
		elseif asked ~= attempt then
			item = {STALE, value}
		else
			if claimed and not mine then -- this counts as a crash of an earlier owner
				local crashes = math.floor(flags / 16777216)
				local open = math.floor(flags / 256) % 256
				flags = flags + (crashes < 255 and 16777216 or 0) + (1 - open) * 256
			end
			if not claimed then
				flags = flags + 1
			end
			item = encode(flags, attempt + step, v0, v1, d0, d1, f0, f1, crc)
			value = item .. sub(value, BODY)
			scores[written + 1], scores[written + 2] = digits(-score(d0, d1)), id
			stored[written + 1], stored[written + 2] = id, value
			written = written + 2
			made[id] = value
		end
	end
	answer[k + 1] = item
end

touch()
write('ZADD', TIMERS, scores)
write('HSET', VALUES, stored)
use_up()
return answer

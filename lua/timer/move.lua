-- move: gives timers another deadline and the next version. The topic, the data and the attempt
-- stay. The retries and the crashes begin again at 0, and the text of dw_set_why() is deleted.
-- Owners that were cut off may have used the next attempts (`jump` in README.md). Then move raises
-- the attempt as a claim does, because `jump` does not cover the next version.
--
-- uses: args base begin body enter leave newer open outage owner store value version
--
-- KEYS      l m z h i s:NONCE
-- ARGV      1-6 as README.md says; the role is owner or client
--           7.. for each timer: flags (4: the owner took its claim back; ignored for a client), id,
--           the version that the owner knows (0: none), due (8 bytes), and the floor of the new
--           version or ''
-- returns   {'OK', ...} with one item for each timer. The new header: the timer was moved; {0,
--           value}: it was moved, but the owner knew another version; 2: there is no such timer; 4:
--           it is too late, because the timer is claimed; 5: the value is damaged; 7: the timer is
--           of a newer version; {8, 'version:fence:code'}: as for cancel.lua; or a refusal
-- cost      O(log N) for each timer
local refusal = enter()
if refusal then
	return refusal
end

local ids = column(8, 5)
local values = call('HMGET', VALUES, unpack(ids))
call('ZCARD', TIMERS)
call('ZCARD', INBOX)

local answer, made, news = {'OK'}, {}, {}
local jumps, far = jump()
local waits = must_wait()
local inbox = waits and inbox_of(ids) or {}
for k = 1, #ids do
	local id = ids[k]
	local value = made[id] or values[k]
	local item = waits and inbox[k] and wait_for(waits, inbox[k], ENOENT) or ENOENT

	if value then
		local flags, attempt, v0, v1, _, _, c0, c1, crc = decode(value)
		local withdrawn = owner and tonumber(ARGV[5 * k + 2]) >= 4
		local mine = owner and flags and c1 * WORD + c0 == fence

		if not flags then
			item = CORRUPT
		elseif is_newer(value) then
			item = NEWER
		elseif flags % 256 == 1 and (not owner or (mine and not withdrawn)) then
			item = LATE
		else
			local known = tonumber(ARGV[5 * k + 4]) == v1 * WORD + v0
			local d0, d1 = words_of('<I4I4', ARGV[5 * k + 5])
			-- If the owner may start timers while it is cut off, the claim of a moved
			-- timer is the version that clients' moves began with. replay.lua needs it
			-- for a settle.
			local b0, b1 = 0, 0
			if waits and c0 + c1 == 0 then
				b0, b1 = v0, v1
			elseif waits then
				b0, b1 = c0, c1
			end
			local open = not withdrawn and flags % 65536 ~= 0 and 256 or 0

			if v1 * WORD + v0 <= jumps then
				attempt = attempt + far
			end
			v0, v1 = halves(next_ver(ARGV[5 * k + 6]))
			item = encode(open, attempt, v0, v1, d0, d1, b0, b1, crc)
			made[id] = item .. body_of(value)
			store_timer(id, made[id], score(d0, d1))
			if not owner then
				insert(news, last)
				insert(news, id)
				item = waits and wait_for(waits, last, 0) or item
			elseif not known then
				item = {0, made[id]}
			end
		end
	end
	answer[k + 1] = item
end

touch()
write_timers()
leave(news)
return answer

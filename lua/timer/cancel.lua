-- cancel: deletes timers, and tells whether they may still start.
--
-- For an owner, code 4 means that the timer is claimed and was left alone. For a client it may also
-- mean that the timer is deleted, but an earlier claim may still start: always of a recurring one.
--
-- uses: args base begin end_timer enter leave newer open outage owner remove value version
--
-- KEYS      l m z h i s:NONCE E x
-- ARGV      1-6 as in README.md; role owner or client
--           7.. for each timer: flags (4: the owner took its claim back; ignored for a client), id,
--           the version that it must have, or 0
-- returns   {'OK', ...}: 0, or for an owner the header of the deleted timer; 2 no such timer, or
--           not of this version; 4 too late; 7 it is of a newer version, and was left alone; {8,
--           'version:fence:code'} for a client: certain once confirm.lua says so, and then the
--           code; or a refusal
-- cost      O(log N) a timer
local refusal = enter()
if refusal then
	return refusal
end

local ids = column(8, 3)
local values = call('HMGET', VALUES, unpack(ids))
local inbox = inbox_of(ids)
call('ZCARD', TIMERS)

-- is_other: is this not the version that was asked for?
local function is_other(value, version)
	return version ~= '0' and select(3, raw(value)) ~= tonumber(version)
end

local answer, posted, gone, news = {'OK'}, {}, {}, {}
local waits = must_wait()
for k = 1, #ids do
	local id = ids[k]
	local value = not gone[id] and values[k]
	local open = false -- an earlier claim may start after this
	local item = 0
	local head

	if not value then
		local told = posted[id] or inbox[k]

		item = waits and told and wait_for(waits, told, ENOENT) or ENOENT
		if left_open(told) then
			item = LATE
		end
	elseif is_newer(value) then
		item = NEWER
	elseif is_other(value, ARGV[3 * k + 6]) then
		item = ENOENT
	elseif owner then
		local flags, _, _, _, _, _, c0, c1 = decode(value)
		local mine = flags and flags % 256 == 1 and c1 * WORD + c0 == fence

		item = mine and tonumber(ARGV[3 * k + 4]) < 4 and LATE or 0
		if item == 0 and flags then
			head = sub(value, 1, BODY - 1)
		end
	else
		local late

		late, open = client_cancels(value)
		item = late and LATE or 0
	end
	if item == 0 and not owner then
		posted[id] = open and -next_ver('') or next_ver('')
		insert(news, posted[id])
		insert(news, id)
	end
	if item == 0 or (not value and item ~= LATE) then -- an entry without a value is deleted too
		gone[id] = true
		remove_timer(id)
		if value and decode(value) then
			end_timer(id, value, CANCELLED, 0, NEVER, '')
		end
	end
	if item == 0 and open then
		item = LATE
	elseif item == 0 and waits then
		item = wait_for(waits, posted[id], 0)
	end
	answer[k + 1] = head or item
end

touch()
write_ends()
write_removed()
leave(news)
return answer

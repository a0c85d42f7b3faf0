-- cancel: deletes timers, and reports whether they may still start.
--
-- For an owner, code 4 means that the timer is claimed and was left alone. For a client, code 4
-- means this, too, or that the timer was deleted, but an earlier claim may still start. A claimed
-- recurring timer is always deleted.
--
-- uses: args base begin end_timer enter leave newer open outage owner remove value version
--
-- KEYS      l m z h i s:NONCE E x
-- ARGV      1-6 as README.md says; the role is owner or client
--           7.. for each timer: flags (4: the owner took its claim back; ignored for a client), id,
--           and the version that the timer must have, or 0
-- returns   {'OK', ...} with one item for each timer. 0, or for an owner the header of the timer:
--           it was deleted; 2: there is no such timer, or it has another version; 4: it is too
--           late; 7: the timer is of a newer version, and was left alone; {8,
--           'version:fence:code'}, only for a client: nothing is certain until confirm.lua says so,
--           and then `code` counts; or a refusal
-- cost      O(log N) for each timer
local refusal = enter()
if refusal then
	return refusal
end

local ids = column(8, 3)
local values = call('HMGET', VALUES, unpack(ids))
local inbox = inbox_of(ids)
call('ZCARD', TIMERS)

-- is_other returns true if the value has another version than the caller asked for.
local function is_other(value, version)
	return version ~= '0' and select(3, raw(value)) ~= tonumber(version)
end

local answer, posted, gone, news = {'OK'}, {}, {}, {}
local waits = must_wait()
for k = 1, #ids do
	local id = ids[k]
	local value = not gone[id] and values[k]
	local open = false -- true: an earlier claim may still start after the deletion
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
	-- without a value too, because TIMERS may have an entry
	if item == 0 or (not value and item ~= LATE) then
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

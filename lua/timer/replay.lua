-- replay: does, row by row, what a journal has promised while the server was away.
--
-- uses: args base begin body clock digits end_timer enter leave newer open outage remove store
-- uses: store_new value version
--
-- KEYS      l m z h i s:NONCE E x
-- ARGV      1-6 as README.md says; the role is owner or client
--           7 the id of the journal. The field of `m` that is named `j:` and this id has the number
--           of the last row that was done
--           8.. for each row: id, number, kind, flags, version, attempt, floor, fence, due (8
--           bytes), body. The numbers grow, and the ids differ.
--           The kind is P put, S settle, R retry, C cancel, M move or L claim.
--           The version is what the row knows (0: none). A put with flag 2 gets this version.
--           The floor: when the row was written, no version was later than this.
--           The fence is that of the owner that wrote the row; 0: a client wrote it.
--           Only a put has a body.
--           The flags are a sum. 256: one retry counts, 512: two, and so on; 1: the timer has
--           started by a claim that Redis does not know; 2: the claim still holds; 4: the owner
--           took its claim back; 8: the timer of a put is claimed; 16: no reply had told the time,
--           so a cancel also deletes a later version
-- returns   {'OK', ...} with one item for each row. 0: the row was done, now or before; 1: a later
--           version replaced the timer; 2: there is no timer; 4: it is too late, because another
--           owner has claimed the timer; 5: the value is damaged; 7: the timer is of a newer
--           version; or a refusal. After an error nothing was done
-- cost      O(log N) for each row
local refusal = enter()
if refusal then
	return refusal
end

-- `late` keeps a change for this time (us). The client that made the change waits for only 5 s.
local LATE_FOR = 60000000
local WIDTH = 10
local FIELD = 'j:' .. ARGV[7]
local ids = column(8, WIDTH)
local values = call('HMGET', VALUES, unpack(ids))
local inbox = call('ZMSCORE', INBOX, unpack(ids))
local done = tonumber(call('HGET', META, FIELD)) or 0
local news, late = {}, {}

-- These are the words of the present row, and the fields of the value that is stored under its id.
-- `flags` is nil if there is no value, or if the value is damaged.
local id, value, told, marks, known, tried, floor, writer, body
local flags, attempt, ver, claim, crc, v0, v1, d0, d1

local function load(k)
	local at = 8 + WIDTH * (k - 1)
	local c0, c1, _
	id, value, told = ids[k], values[k], tonumber(inbox[k] or 0)
	marks, known, tried = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
	floor, writer, body = tonumber(ARGV[at + 6]), tonumber(ARGV[at + 7]), ARGV[at + 9]
	flags = nil
	if value then
		flags, attempt, v0, v1, _, _, c0, c1, crc = decode(value)
	end
	if flags then
		ver, claim = v1 * WORD + v0, c1 * WORD + c0
	end
	d0, d1 = words_of('<I4I4', ARGV[at + 8])
end

-- is_free returns true if the stored timer is pending, or if no later owner than the writer of the
-- row has claimed it. If an owner calls the script, its own fence is the latest one, so every claim
-- counts as free.
local function is_free()
	return flags % 256 == 0 or claim <= (owner and fence or writer)
end

local function has(flag)
	return marks % (2 * flag) >= flag
end

-- earlier_open returns the `open` byte for the new value in `flags`. It is set (256) if an earlier
-- claim may still start after the timer is replaced. Otherwise it is 0.
local function earlier_open()
	if not value then
		return told < 0 and 256 or 0
	end
	if has(4) and flags and is_free() then
		return 0
	end
	return is_open(value) and 256 or 0
end

-- more adds `count` to one byte of `flags`, which stays at most 255. `unit` is the value of the
-- byte's lowest bit: 65536 for the retries, and 16777216 for the crashes.
local function more(unit, count)
	local room = 255 - math.floor(flags / unit) % 256
	flags = flags + unit * math.min(room, count)
end

local function post(sign)
	insert(news, digits(sign * last))
	insert(news, id)
end

local function store(header, rest, sign)
	store_timer(id, header .. rest, (sign or 1) * score(d0, d1))
end

-- store_claim stores a delivery that has no verdict. If its claim holds, it becomes this owner's
-- claim. Otherwise the process that made the claim is gone, or has lost the ownership, and does not
-- start the timer any more.
local function store_claim(rest)
	if owner and has(2) then
		local f0, f1 = halves(fence)
		store(encode(flags + 1, tried, v0, v1, d0, d1, f0, f1, crc), rest, -1)
		return
	end
	more(16777216, 1)
	store(encode(flags, tried, v0, v1, d0, d1, 0, 0, crc), rest)
end

-- delete removes the timer, and stores its end. The end has no start and no result of the handler,
-- because nobody knows them any more. If a client calls the script, the owner learns from the inbox
-- that the timer is gone, and whether an earlier claim may still start.
local function delete(how)
	remove_timer(id)
	if flags then
		end_timer(id, value, how, 0, NEVER, '')
	end
	if not owner then
		next_ver('')
		post(flags and flags % 65536 == 0 and 1 or -1)
	end
end

local what = {}

function what.P()
	if math.abs(told) > floor or (flags and ver > floor) then
		return EEXIST
	end
	flags, crc = earlier_open(), (words_of('<I4', body, 3))
	more(65536, math.floor(marks / 256))
	if has(2) and owner then
		last = math.max(last, known)
		v0, v1 = halves(known)
	else
		v0, v1 = halves(next_ver(digits(floor)))
		post(1)
	end
	if has(8) then
		store_claim(body)
	else
		store(encode(flags, tried, v0, v1, d0, d1, 0, 0, crc), body)
	end
	return 0
end

function what.M()
	if not flags then
		return value and CORRUPT or ENOENT
	end
	if ver > floor or (known > 0 and ver ~= known) then
		return EEXIST
	end
	if not is_free() then
		return LATE
	end
	local open = earlier_open()
	local jumps, far = jump()
	if ver <= jumps then -- move.lua does the same
		attempt = attempt + far
	end
	v0, v1 = halves(next_ver(digits(floor)))
	local base = claim > 0 and claim or ver -- move.lua does the same
	local b0, b1 = halves(must_wait() and flags % 256 == 0 and base or 0)
	store(encode(open, attempt, v0, v1, d0, d1, b0, b1, crc), body_of(value))
	post(1)
	return 0
end

function what.C()
	if not value then
		remove_timer(id) -- an entry without a value is deleted, too
		return ENOENT
	end
	if flags and ver > floor and not has(16) then
		return EEXIST
	end
	if flags and not is_free() then
		return LATE
	end
	delete(CANCELLED)
	return 0
end

-- is_taken_over returns true if a client calls the script, and a later owner than the writer of the
-- row has the shard. The new owner claims by itself, so a row that ends a claim or counts a
-- start does nothing.
local function is_taken_over()
	return not owner and tonumber(call('HGET', META, 'fence') or 0) > writer
end

-- same returns 0 if the stored timer is the delivery that the row knows. Otherwise it returns the
-- code of the answer.
local function same()
	if not flags then
		return value and CORRUPT or ENOENT
	end
	if ver ~= known then
		return EEXIST
	end
	-- A claim that was in doubt may have raised the attempt above that of the journal.
	return is_free() and (attempt <= tried or claim == writer) and 0 or LATE
end

-- is_unheard returns true if no owner has heard of the stored change. An owner that takes the shard
-- again empties the inbox, so it hears of the change only after its rows are done.
local function is_unheard()
	return told == ver or
		(owner and told == 0 and tonumber(call('HGET', META, 'before')) == writer)
end

-- is_moved returns true if a client has moved the delivery that the row knows, and no owner has
-- heard of that.
local function is_moved()
	return flags and has(1) and is_unheard() and flags % 256 == 0 and claim > 0 and
		known >= claim and known < ver
end

-- what.S settles a delivery that is done. If a client has moved the timer meanwhile, the client
-- came too late.
function what.S()
	local item = is_moved() and 0 or same()
	if item == 0 then
		delete(DONE)
	end
	return item
end

-- rest_of returns the body. If the row counts retries, the body has no text of dw_set_why(),
-- because the text of the last verdict is lost.
local function rest_of()
	return marks >= 256 and body_of(value) or sub(value, BODY)
end

function what.R()
	local item = is_taken_over() and LATE or same()
	if item ~= 0 or (flags % 256 == 0 and not has(1)) then
		return item
	end
	more(65536, math.floor(marks / 256))
	if not owner then
		v0, v1 = halves(next_ver(''))
		post(1)
	end
	store(encode(flags - flags % 256, tried, v0, v1, d0, d1, 0, 0, crc), rest_of())
	return 0
end

function what.L()
	local item = is_taken_over() and LATE or same()
	if item ~= 0 then
		return item
	end
	more(65536, math.floor(marks / 256))
	flags = flags - flags % 256
	d0, d1 = words_of('<I4I4', value, 17)
	store_claim(rest_of())
	return 0
end

-- note_change handles a row with flag 1, whose timer has started without Redis knowing it. If the
-- timer was moved since, its attempt becomes that of the journal. If a client has changed the timer
-- and still waits for the owner, the change came too late, and note_change notes it in `late`.
local function note_change(item, moved)
	local version = math.abs(told)
	if not has(1) then
		return
	end
	if item == EEXIST and owner and flags and flags % 256 == 0 and attempt < tried then
		d0, d1 = words_of('<I4I4', value, 17)
		store(encode(flags, tried, v0, v1, d0, d1, 0, 0, crc), sub(value, BODY))
	end
	if told ~= 0 and version ~= known then
		insert(late, digits(version) .. (moved and ';' or ':') .. id .. '\n')
	end
end

local function store_late()
	for ver, mark, name in late_changes() do
		if tonumber(ver) > now() - LATE_FOR then
			insert(late, ver .. mark .. name .. '\n')
		end
	end
	call('HSET', META, 'late', table.concat(late))
end

-- again returns the answer to a row that was done before, because that answer was lost. The answer
-- is 0, unless the stored timer shows that the first answer was another one.
local function again(kind)
	if kind == 'C' and flags then
		return ver > floor and EEXIST or LATE
	end
	return kind == 'S' and flags and ver == known and LATE or 0
end

call('ZCARD', TIMERS)
local answer = {'OK'}
for k = 1, #ids do
	local at = 8 + WIDTH * (k - 1)
	local item = 0
	if tonumber(ARGV[at + 1]) > done then
		load(k)
		local moved = ARGV[at + 2] == 'S' and is_moved()
		item = value and is_newer(value) and NEWER or what[ARGV[at + 2]]()
		note_change(item, moved)
	else
		load(k)
		item = again(ARGV[at + 2])
	end
	answer[k + 1] = item
end

local failure = store_new()
if failure then
	return failure
end
write_ends()
call('HSET', META, FIELD, digits(math.max(done, tonumber(ARGV[#ARGV - WIDTH + 2]))))
if late[1] then
	store_late()
end
leave(news)
return answer

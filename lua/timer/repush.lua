-- repush: writes again timers that the owner still knows, after the shard was emptied or set back
-- to an earlier state.
--
-- If another process already owns the emptied shard, the caller writes as a client. It then writes
-- only where nothing is stored, because the new owner may have changed a stored timer. The written
-- timer is pending. If it was claimed, it is also open, because that claim may still start.
--
-- The owner replaces any older timer, even a timer of a newer durawheel: the owner's write was
-- confirmed later, in place of that timer.
--
-- uses: args base begin enter leave newer store store_new value
--
-- KEYS      l m z h i s:NONCE
-- ARGV      1-6 as README.md says; the role is owner or client
--           7.. for each timer: id, version, attempt, state, retries, crashes, open, due (8 bytes),
--           body
-- returns   {'OK', ...} with one item for each timer. The header: the timer was written; {3,
--           value}: a later version is stored, or the same one of a newer durawheel, or for a
--           client any timer; 2: the inbox says that the timer is gone; or a refusal
-- cost      O(log N) for each timer
local refusal = enter()
if refusal then
	return refusal
end

local ids = column(7, 9)
local values = call('HMGET', VALUES, unpack(ids))
local inbox = call('ZMSCORE', INBOX, unpack(ids))
call('ZCARD', TIMERS)

local answer, news = {'OK'}, {}
local high = last
for k = 1, #ids do
	local at = 9 * k - 2
	local id, ver = ids[k], tonumber(ARGV[at + 1])
	local before = values[k]
	local flags, attempt, v0, v1 = nil, 0, 0, 0

	if before then
		flags, attempt, v0, v1 = decode(before)
	end
	local has = flags and v1 * WORD + v0
	if (flags and (not owner or has > ver or (has == ver and is_newer(before)))) or
		(inbox[k] and (not owner or math.abs(tonumber(inbox[k])) > ver)) then
		answer[k + 1] = before and {STALE, before} or ENOENT
	else
		local state, open = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 6])
		local d0, d1 = words_of('<I4I4', ARGV[at + 7])
		local c0, c1 = 0, 0
		local body = ARGV[at + 8]

		if not flags or has < ver then
			attempt = 0
		end
		attempt = math.max(attempt, tonumber(ARGV[at + 2]))
		if not owner then
			open = math.max(open, state)
			state = 0
		end
		if state == 1 then
			c0, c1 = halves(fence)
		end
		v0, v1 = halves(ver)
		local header = encode(state + 256 * open + 65536 * tonumber(ARGV[at + 4]) +
			16777216 * tonumber(ARGV[at + 5]), attempt, v0, v1, d0, d1, c0, c1,
			(words_of('<I4', body, 3)))
		local rank = score(d0, d1)
		store_timer(id, header .. body, state == 1 and -rank or rank)
		if not owner then
			insert(news, ARGV[at + 1])
			insert(news, id)
		end
		high = math.max(high, ver)
		answer[k + 1] = header
	end
end

local failure = store_new()
if failure then
	return failure
end
last = high
leave(news)
return answer

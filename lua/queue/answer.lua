-- answer: the verdicts on messages that were taken.
--
-- uses: common queue
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`
-- ARGV      1 topic   2 verdict: 'done', 'retry', 'hold', 'dead', or 'damaged': the message is
--           dropped, and counted so   3 when they come back (us), 0: as the topic says   4 a random
--           number   5.. for each message: entry/delivery
-- returns   {'OK', ...}: 0; 3 stale; or the message, as take returns it: its retries are used up,
--           or the verdict is 'dead'. Nothing was done to it.
--           {'TYPE', key, its type, the right one}: another program has made this key
-- cost      O(1) a message; 3 us of the server
local TOPICS, COUNTS, STREAM, LATER = unpack(KEYS, 10)
local wrong = wrong_type(STREAM, LATER)
if wrong then
	return wrong
end
local verdict, back, random = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local text = ' ' .. (call('HGET', TOPICS, ARGV[1]) or '') .. ' '
local answer, present = {'OK'}, time_us()

local most = setting(text, 'retries', 16)
most = most == WORD - 1 and 0 or most -- no retries

-- is_held: does somebody hold the message by this delivery? A group's XPENDING fails without the
-- stream.
local exists = call('EXISTS', STREAM) == 1

local function is_held(entry, delivery)
	local seen = exists and call('XPENDING', STREAM, 'g', entry, entry, 1)[1]
	return seen and seen[4] == delivery
end

-- fields_of: the fields of a message; nil: it was dropped while somebody held it.
local function fields_of(entry)
	local found = call('XRANGE', STREAM, entry, entry)[1]
	local fields = {}
	for k = 1, found and #found[2] or 0, 2 do
		fields[found[2][k]] = found[2][k + 1]
	end
	return found and fields
end

-- delete: false: there is no such message any more.
local function delete(entry)
	call('XACK', STREAM, 'g', entry)
	return call('XDEL', STREAM, entry) == 1
end

-- delay: as settings_retry_delay() in src/topic/settings.c.
local function delay(retries)
	local wait, longest = setting(text, 'first', 1000000), setting(text, 'longest', 300000000)
	local factor, jitter = setting(text, 'factor', 2), setting(text, 'jitter', 20)
	for _ = 1, retries do
		if wait >= longest then
			break
		end
		wait = wait * factor
	end
	wait = math.min(wait, longest)
	jitter = jitter == WORD - 1 and 0 or math.floor(wait / 100) * jitter
	random = (random * 69069 + 12345) % WORD
	return wait - jitter + random % (2 * jitter + 1)
end

-- put_off takes the message out of the stream until its time comes.
local function put_off(entry, delivery, fields, retries)
	local at = back > 0 and back or present + delay(retries)
	local kept = {'id', fields.id or '', 'data', fields.data or '', 'due', fields.due or '0',
		'attempt', digits((tonumber(fields.attempt) or 0) + delivery), 'gen',
		fields.gen or '0', 'sum', fields.sum or '', 'retries', digits(retries + 1)}
	delete(entry)
	call('ZADD', LATER, digits(at), entry .. '\0' .. cmsgpack.pack(kept))
end

for k = 5, #ARGV do
	local entry, delivery = string.match(ARGV[k], '^(%d+%-%d+)/(%d+)$')
	delivery = tonumber(delivery)
	local held = entry and is_held(entry, delivery)
	local ends = verdict == 'done' or verdict == 'damaged'
	local fields = held and not ends and fields_of(entry)
	local item = 0
	if held and ends then
		item = delete(entry) and 0 or STALE
		if verdict == 'damaged' and item == 0 then
			redis.pcall('HINCRBY', COUNTS, 'dropped:' .. ARGV[1], 1)
		end
	elseif not fields then
		item = STALE
	elseif verdict == 'hold' then
		call('XCLAIM', STREAM, 'g', 'd', 0, entry, 'JUSTID')
	else
		local retries = tonumber(fields.retries) or 0
		if verdict == 'retry' and retries < most then
			put_off(entry, delivery, fields, retries)
		else
			item = {entry, digits(delivery), fields.id or '', fields.data or '',
				fields.due or '0', fields.attempt or '0', fields.gen or '0',
				fields.sum or '', fields.retries or '0'}
		end
	end
	insert(answer, item)
end
return answer

-- answer: applies a verdict to messages that were taken.
--
-- uses: clock digits queue
--
-- KEYS      m t n q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC
-- ARGV      1 topic   2 the verdict: 'done', 'retry', 'hold', 'dead' or 'damaged'. 'damaged'
--           deletes the messages as 'done' does, and counts them as dropped
--           3 when the messages come back (us), for 'retry' or 'hold'; 0: the topic decides
--           4 a random number   5.. the tokens of the messages
-- returns   {'OK', ...} with one number for each token. 0: the verdict was applied. 3: the token is
--           stale. Below 0: nothing was done, because the retries are used up or the verdict is
--           'dead'; the number is minus the size of the value in MESSAGES. {'OK'}: all numbers are
--           0.
--           {'TYPE', key, its type, the right type}: another program has made this key
-- cost      O(log N) and 3 us of server time for each message
local STALE = 3
local verdict, back, random = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local text = settings_text()
local wrong = not text and wrong_type()
if wrong then
	return wrong
end
text = text or ''
local ends = verdict == 'done' or verdict == 'damaged'
local most = setting(text, 'retries', 16)
most = most == NONE and 0 or most
local hide = setting(text, 'hide', 30000000)
hide = hide > 0 and hide or 30000000
local answer = {'OK'}
local left, gone, comes_back = {}, {}, {}

-- delay returns the time (us) to wait before the next retry. settings_retry_delay() in
-- src/topic/settings.c computes the same.
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
	jitter = jitter == NONE and 0 or math.floor(wait / 100) * jitter
	random = (random * 69069 + 12345) % 4294967296
	return wait - jitter + random % (2 * jitter + 1)
end

-- judge decides what the verdict does to the taken message of this token. If another program has
-- deleted the value of the message, it cannot become a dead letter. Then it stays taken, and the
-- next take drops it.
local function judge(token)
	local generation, first, retries, deliveries = match(token, TOKEN)
	retries = tonumber(retries)
	if verdict == 'dead' or (verdict == 'retry' and retries >= most) then
		local size = call('HSTRLEN', MESSAGES, generation)
		return size > 0 and -size or STALE
	end
	insert(left, token)
	if ends then
		insert(gone, generation)
	elseif verdict == 'hold' then
		insert(comes_back, digits((back > 0 and back or now() + hide) + #comes_back / 2))
		insert(comes_back, token)
	else
		insert(comes_back, digits(back > 0 and returns_at(back, false) or
			returns_at(now() + delay(retries), true)))
		insert(comes_back, token_of(generation, first, retries + 1, deliveries))
	end
	return 0
end

local function answer_all()
	local scores = call('ZMSCORE', TAKEN, unpack(ARGV, 5))
	local seen, all_done = {}, true
	for k, score in ipairs(scores) do
		local token = ARGV[4 + k]
		local is_held = score and not seen[token] and match(token, TOKEN)
		seen[token] = true
		answer[k + 1] = is_held and judge(token) or STALE
		all_done = all_done and answer[k + 1] == 0
	end
	remove(TAKEN, left)
	forget(gone)
	if comes_back[1] then
		call('ZADD', verdict == 'hold' and TAKEN or LATER, unpack(comes_back))
	end
	count('dropped', verdict == 'damaged' and #gone or 0)
	return all_done and {'OK'} or answer
end

return answered(answer_all)

-- topic: the topic in a value, and its place in the index by topic.
--
-- uses: base value

-- topic_of: the topic in a value. Of a damaged value it may be any bytes.
local function topic_of(value)
	local form, size = string.byte(value, BODY, BODY + 1)
	local at = BODY + 6
	if form == 1 then -- the usual case, faster
		return sub(value, at, at + (size or 0) - 1)
	end
	form = (form or 1) % WHY
	if form == 2 then
		at = BODY + 14
	elseif form == 3 then -- the whole record
		local id_size
		id_size, size = string.byte(value, BODY + 18, BODY + 19)
		at = BODY + 34 + (id_size or 0)
	end
	return sub(value, at, at + (size or 0) - 1)
end

-- member_of: the member that a timer has in the index: its topic, a zero byte, its score as 8 bytes
-- with the highest one first, and its id. So the timers of a topic stand by deadline. A value alone
-- decides its member, even a damaged one.
local function member_of(id, value)
	local topic, d0, d1 = topic_of(value), 0, 0
	if string.find(topic, '\0', 1, true) then -- it is damaged
		topic = ''
	end
	if #value >= 24 then
		d0, d1 = words_of('<I4I4', value, 17)
	end
	if d1 < 2097152 and d0 + d1 > 0 then -- the usual case, faster
		return topic .. '\0' .. pack('>I4I4', d1, d0) .. id
	end
	return topic .. '\0' .. pack('>I8', score(d0, d1)) .. id
end

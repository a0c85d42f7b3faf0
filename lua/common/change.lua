-- change: a change of settings: which ones are the newest, and what a shard notes.
--
-- uses: clock digits names settings
local RECENT_MAX = 2048 -- bytes of the last changes that a shard remembers

-- newest: the newest settings of a topic among those of the shard and those that were sent, and
-- their version. nil: there are none, or the newest that is known is a drop. Of equal versions
-- those that were sent count: the shard's own were among those that the caller has read.
local function newest(topic, sent)
	local version, text = dropped_version(topic), nil
	for _, each in ipairs({call('HGET', TOPICS, topic) or '', sent}) do
		local number = version_of(each)
		if each ~= '' and number >= version then
			version = number
			text = not number_of(each, 'gone') and each or nil
		end
	end
	return text, math.max(version, 0)
end

-- next_version: a time (us), and later than that version.
local function next_version(last_version)
	return digits(math.max(now(), last_version + 1))
end

-- note_changes counts changes of these topics, and remembers the last ones: `recent` in META has a
-- line for each call, the change numbers before and behind it and the topics. So whoever knows a
-- number sees whether another program has changed the settings, too.
local function note_changes(before, topics)
	call('HINCRBY', META, 'topics', #topics)
	local numbers = before .. '\t' .. change_number() .. '\t'
	local recent = call('HGET', META, 'recent') or ''
	recent = recent .. numbers .. table.concat(topics, '\t') .. '\n'
	if #recent > RECENT_MAX then
		recent = match(sub(recent, -RECENT_MAX), '\n(.*)') or ''
	end
	call('HSET', META, 'recent', recent)
end

-- What the scripts of timers need of settings: in the field `closed` of META a line for each topic
-- that takes no puts, in `keeps` for each that keeps ends.
local MARKS = {'closed', 'keeps'}
local lines, has_other = {}, {}

-- mark: the line of the topic ends so; nil removes it.
local function mark(field, topic, ending)
	if not lines[field] then
		lines[field] = {}
		for line in string.gmatch(call('HGET', META, field) or '', '([^\n]*)\n') do
			local name = match(line, '^[^\t]*')
			lines[field][name] = sub(line, #name + 1)
		end
	end
	has_other[field] = has_other[field] or lines[field][topic] ~= ending
	lines[field][topic] = ending
end

local function mark_settings(topic, text)
	local paused, keep = number_of(text, 'paused') or 0, number_of(text, 'keep') or 0
	mark('closed', topic, paused >= 2 and '' or nil)
	mark('keeps', topic, keep > 0 and '\t' .. digits(keep) or nil)
end

local function write_marks()
	for _, field in ipairs(MARKS) do
		local text = {}
		for _, topic in ipairs(names_in(lines[field] or {})) do
			insert(text, topic .. lines[field][topic] .. '\n')
		end
		if has_other[field] and text[1] then
			call('HSET', META, field, table.concat(text))
		elseif has_other[field] then
			call('HDEL', META, field)
		end
	end
end

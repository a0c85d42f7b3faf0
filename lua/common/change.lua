-- change: changes settings. It finds the newest settings, and notes the change in the shard.
--
-- uses: clock digits names settings
local RECENT_MAX = 2048 -- most bytes of `recent`, in which a shard remembers changes

-- newest compares the shard's settings of a topic with `sent`. It returns the newest settings, and
-- the newest version. The settings are nil if there are none, or if the newest version is that of a
-- drop. If both versions are equal, `sent` counts, because its sender has read the shard's settings
-- before.
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

-- next_version returns a new version as text: the time (us), or last_version + 1 if that is later.
local function next_version(last_version)
	return digits(math.max(now(), last_version + 1))
end

-- note_changes counts the changes of these topics, and remembers the last changes. `recent` in META
-- has a line for each call: the change number before the call, the change number after it, and the
-- topics. If another program changes the settings, the numbers of the lines no longer join, and a
-- reader of the lines sees that.
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

-- The scripts of timers read these two fields of META. `closed` has a line for each topic that
-- takes no puts, and `keeps` has one for each topic that keeps the ends of its timers.
local MARKS = {'closed', 'keeps'}
local lines, has_other = {}, {}

-- mark makes the topic's line in this field end with `ending`. If `ending` is nil, it removes the
-- line.
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

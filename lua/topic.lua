-- The parts that the scripts of topic/ share: the keys of settings, which settings are the newest,
-- and which have changed. They need nothing of common.lua.
local call, insert = redis.call, table.insert
local sub, find, match = string.sub, string.find, string.match
local META, TOPICS = unpack(KEYS)
local prefix = sub(TOPICS, 1, -2) -- of the other keys of topics
local DROPPED = prefix .. 'u'
local WORD_OF_SETTINGS = '^[%w_]+=%-?%d+$'
local RECENT_MAX = 2048 -- bytes of the last changes that a shard remembers

local function digits(number)
	return string.format('%.0f', number)
end

-- queue_keys: of a topic. They are named from `t`, which is in the same slot.
local function queue_keys(topic)
	return prefix .. 'q:' .. topic, prefix .. 'qt:' .. topic, prefix .. 'ql:' .. topic,
		prefix .. 'qm:' .. topic, prefix .. 'qc:' .. topic
end

-- length: of a list or sorted set. One that another program has made with another type counts as
-- empty.
local function length(command, key)
	return tonumber(redis.pcall(command, key)) or 0
end

-- is_hash: false: another program has made the key with another type, the second result.
local function is_hash(key)
	local found = call('TYPE', key).ok
	return found == 'hash' or found == 'none', found
end

-- wrong_hash: an answer that names the first of these keys that another program has made with
-- another type; nil: there is none.
local function wrong_hash(...)
	for _, key in ipairs({...}) do
		local right, found = is_hash(key)
		if not right then
			return {'TYPE', key, found, 'hash'}
		end
	end
	return nil
end

-- number_of: a number in settings, or nil.
local function number_of(text, name)
	return tonumber(match(' ' .. text, ' ' .. name .. '=(%d+)'))
end

-- version_of: the version of settings. 0: they have none, or are damaged: a word
-- is not NAME=NUMBER. So they are older than all others. settings_version() in
-- src/topic/settings.c does the same.
local function version_of(text)
	for word in string.gmatch(text, '[^ ]+') do
		if not find(word, WORD_OF_SETTINGS) then
			return 0
		end
	end
	local version = number_of(text, 'ver') or 0
	return version <= 9007199254740992 and version or 0
end

-- dropped_version: of the drop that the shard remembers; -1: of none, or it is damaged.
local function dropped_version(topic)
	return tonumber(call('HGET', DROPPED, topic)) or -1
end

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
	local time = call('TIME')
	return digits(math.max(time[1] * 1000000 + time[2], last_version + 1))
end

-- settings_of: the settings that the shard has of a topic, 'ver=N gone=1' of a drop, or nil.
local function settings_of(topic)
	local text = call('HGET', TOPICS, topic)
	local version = not text and call('HGET', DROPPED, topic)
	return text or version and 'ver=' .. version .. ' gone=1' or nil
end

-- change_number: another one after each change of settings in the shard. renew.lua tells the same.
local function change_number()
	return digits((call('HGET', META, 'topics') or 0) * 4096 + call('HLEN', TOPICS))
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
		for topic, ending in pairs(lines[field] or {}) do
			insert(text, topic .. ending .. '\n')
		end
		if has_other[field] and text[1] then
			call('HSET', META, field, table.concat(text))
		elseif has_other[field] then
			call('HDEL', META, field)
		end
	end
end

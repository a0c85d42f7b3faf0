-- settings: the settings of topics.
--
-- uses: digits
local call, insert = redis.call, table.insert
local sub, find, match = string.sub, string.find, string.match
local WORD_OF_SETTINGS = '^[%w_]+=%-?%d+$'

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

-- settings: reads the settings of topics.
--
-- uses: digits
local call, insert = redis.call, table.insert
local sub, find, match = string.sub, string.find, string.match
local WORD_OF_SETTINGS = '^[%w_]+=%-?%d+$'

-- is_hash returns false if another program has made the key with another type. It also returns the
-- type.
local function is_hash(key)
	local found = call('TYPE', key).ok
	return found == 'hash' or found == 'none', found
end

-- wrong_hash returns an answer that names the first of these keys that another program has made
-- with another type. It returns nil if there is no such key.
local function wrong_hash(...)
	for _, key in ipairs({...}) do
		local right, found = is_hash(key)
		if not right then
			return {'TYPE', key, found, 'hash'}
		end
	end
	return nil
end

-- number_of returns a number in settings, or nil.
local function number_of(text, name)
	return tonumber(match(' ' .. text, ' ' .. name .. '=(%d+)'))
end

-- version_of returns the version of settings. It returns 0 if the settings have no version, or are
-- damaged because a word is not NAME=NUMBER. So these settings are older than all others.
-- settings_version() in src/topic/settings.c does the same.
local function version_of(text)
	for word in string.gmatch(text, '[^ ]+') do
		if not find(word, WORD_OF_SETTINGS) then
			return 0
		end
	end
	local version = number_of(text, 'ver') or 0
	return version <= 9007199254740992 and version or 0
end

-- dropped_version returns the version of the drop that the shard remembers for this topic. It
-- returns -1 if the shard remembers no drop, or if the version is damaged.
local function dropped_version(topic)
	return tonumber(call('HGET', DROPPED, topic)) or -1
end

-- settings_of returns the settings that the shard has for a topic. For a dropped topic it returns
-- 'ver=N gone=1', and for an unknown topic it returns nil.
local function settings_of(topic)
	local text = call('HGET', TOPICS, topic)
	local version = not text and call('HGET', DROPPED, topic)
	return text or version and 'ver=' .. version .. ' gone=1' or nil
end

-- change_number returns a number that is different after each change of settings in the shard.
-- renew.lua computes the same number.
local function change_number()
	return digits((call('HGET', META, 'topics') or 0) * 4096 + call('HLEN', TOPICS))
end

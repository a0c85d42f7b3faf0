-- topic_copy: writes settings of topics into a shard, unless the shard has newer ones. Every shard
-- has the settings of all topics. So they outlive a shard that is emptied, and the scripts know for
-- each timer whether its topic takes puts, and for how long its end is kept.
--
-- uses: change digits settings
--
-- KEYS      m t u n
-- ARGV      1 the most dropped topics that the shard remembers
--           2 the channel to wake the owner on, or ''. The message is 't'
--           3.. for each topic: its name, and its settings with their version. 'ver=N gone=1' says
--           that the topic was dropped
-- returns   {'OK', number of topics whose settings are newer now}
--           {'TYPE', key, its type, the right type}: another program has made this key. If the key
--           is `t` or `u`, nothing was written. If it is `n`, everything was written
-- cost      O(N) topics that take no puts, or keep ends; 25 us for each topic in ARGV
local changed = {}

local wrong = wrong_hash(TOPICS, DROPPED)
if wrong then
	return wrong
end

-- present_version returns the version of the settings that the shard has, or of the drop that it
-- remembers. It returns -1 if there is neither.
local function present_version(topic)
	local text = call('HGET', TOPICS, topic)
	return math.max(text and version_of(text) or -1, dropped_version(topic))
end

local function copy(topic, text, version)
	if number_of(text, 'gone') then
		call('HDEL', TOPICS, topic)
		call('HSET', DROPPED, topic, digits(version))
	else
		call('HSET', TOPICS, topic, text)
		call('HDEL', DROPPED, topic)
	end
	mark_settings(topic, text)
end

-- forget_oldest forgets the topics that were dropped first, if the shard remembers too many dropped
-- topics.
local function forget_oldest()
	local over = call('HLEN', DROPPED) - tonumber(ARGV[1])
	if over <= 0 then
		return
	end
	local fields, versions = call('HGETALL', DROPPED), {}
	for k = 2, #fields, 2 do
		insert(versions, tonumber(fields[k]) or 0)
	end
	table.sort(versions)
	for k = 2, #fields, 2 do
		if (tonumber(fields[k]) or 0) <= versions[over] then
			call('HDEL', DROPPED, fields[k - 1])
		end
	end
end

local before = change_number()
for k = 3, #ARGV, 2 do
	local topic, text = ARGV[k], ARGV[k + 1]
	local version, present = version_of(text), present_version(topic)
	if version >= present then
		copy(topic, text, version)
		if version > present then
			insert(changed, topic)
		end
	end
end
write_marks()
forget_oldest()
if changed[1] then
	note_changes(before, changed)
end
if ARGV[2] ~= '' then
	call('PUBLISH', ARGV[2], 't')
end
return wrong_hash(COUNTS) or {'OK', #changed}

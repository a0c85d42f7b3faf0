-- topic_copy: writes settings of topics into a shard, where the shard has none of them that are as
-- new. Every shard has the settings of all topics: so they outlive a shard that is emptied, and the
-- scripts know of each timer whether its topic takes puts, and how long its end is kept.
--
-- uses: change digits settings
--
-- KEYS      m t u n
-- ARGV      1 most dropped topics that are remembered
--           2 the channel to wake the owner on, or ''; the message is 't'
--           3.. topic, and its settings with their version; 'ver=N gone=1': it was dropped
-- returns   {'OK', number of topics whose settings are newer now}
--           {'TYPE', key, its type, the right one}: another program has made this key. If it is `t`
--           or `u`, nothing was written; if it is `n`, all was
-- cost      O(N) topics that take no puts, or keep ends; 25 us for each topic in ARGV
local changed = {}

local wrong = wrong_hash(TOPICS, DROPPED)
if wrong then
	return wrong
end

-- present_version: of the settings that the shard has, or of the drop that it remembers; -1: none.
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

-- forget_oldest: of too many dropped topics, those that were dropped first are forgotten.
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

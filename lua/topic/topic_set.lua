-- topic_set: makes or changes the settings of a topic, in the shard of its name. The version of the
-- settings is a time (us), and grows with each change. topic_copy.lua then writes the settings into
-- every shard. This shard may have lost its settings, or have older ones, so the caller first asks
-- all shards for the topic.
--
-- uses: change settings
--
-- KEYS      m t u
-- ARGV      1 topic   2 settings   3 '1': settings that ARGV 2 does not name stay, except damaged
--           words   4 the most topics that may have settings
--           5 the newest settings of the topic that the caller has read, with their version, or '':
--           it has found none   6 the highest number of topics with settings that a shard has
--           reported to the caller
-- returns   {'OK', all settings, with their version}; {'LIMIT'}: there are too many topics;
--           {'NOSESSION'}: the shard is empty, and its owner may be about to write the settings
--           again
--           {'TYPE', key, its type, the right type}: another program has made this key
-- cost      O(1)
local topic, text = ARGV[1], ARGV[2]

local wrong = wrong_hash(TOPICS, DROPPED)
if wrong then
	return wrong
end
if call('HEXISTS', META, 'shards') == 0 then
	return {'NOSESSION'}
end
-- The field '' in the first shard has the owner's numbers, and is no topic.
local count = math.max(call('HLEN', TOPICS) - call('HEXISTS', TOPICS, ''),
	tonumber(ARGV[6]))
local before, last_version = newest(topic, ARGV[5])
if not before and count >= tonumber(ARGV[4]) then
	return {'LIMIT'}
end
if before and ARGV[3] == '1' then
	for word in string.gmatch(before, '[^ ]+') do
		local name = find(word, WORD_OF_SETTINGS) and match(word, '^[^=]*=')
		if name and name ~= 'ver=' and not find(' ' .. text, ' ' .. name, 1, true) then
			text = text .. ' ' .. word
		end
	end
end
text = text .. ' ver=' .. next_version(last_version)
text = match(text, '^ *(.*)')
local before_number = change_number()
call('HSET', TOPICS, topic, text)
call('HDEL', DROPPED, topic)
mark_settings(topic, text)
write_marks()
note_changes(before_number, {topic})
return {'OK', text}

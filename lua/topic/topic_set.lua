-- topic_set: makes or changes the settings of a topic, in the shard of its name. Their version is a
-- time (us), and grows with each change. topic_copy.lua then writes them into every shard. The
-- shard may have lost its settings, or have older ones, so the caller asks all shards for the topic
-- before.
--
-- uses: change settings
--
-- KEYS      m t u
-- ARGV      1 topic   2 settings   3 '1': the settings that are not named stay, but for
--           damaged words   4 most topics   5 the newest settings of the topic that the caller
--           has read, with their version, or '': it found none   6 most topics with settings that a
--           shard has told it
-- returns   {'OK', all settings, with their version}; {'LIMIT'}: there are too many topics;
--           {'NOSESSION'}: the shard is empty. Its owner may be about to write the settings again
--           {'TYPE', key, its type, the right one}: another program has made this key
-- cost      O(1)
local topic, text = ARGV[1], ARGV[2]

local wrong = wrong_hash(TOPICS, DROPPED)
if wrong then
	return wrong
end
if call('HEXISTS', META, 'shards') == 0 then
	return {'NOSESSION'}
end
-- The owner's numbers in the first shard are no topic.
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

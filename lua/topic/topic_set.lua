-- topic_set: makes or changes the settings of a topic, in the shard of its name. Their version is a
-- time (us), and grows with each change. topic_copy.lua then writes them into every shard.
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`; `u` is named from `t`
-- ARGV      1 topic   2 settings   3 '1': the settings that are not named stay
--           4 most topics
-- returns   {'OK', all settings, with their version}; {'LIMIT'}: there are too many topics;
--           {'NOSESSION'}: the shard is empty. Its owner may be about to write the settings again
-- cost      O(1)
local TOPICS, _, STREAM = unpack(KEYS, 10)
local DROPPED = sub(TOPICS, 1, -2) .. 'u'
local topic, text = ARGV[1], ARGV[2]
local before = call('HGET', TOPICS, topic)
local dropped = call('HGET', DROPPED, topic)

if call('HEXISTS', META, 'shards') == 0 then
	return {'NOSESSION'}
end
-- The owner's numbers in the first shard are no topic.
local count = call('HLEN', TOPICS) - call('HEXISTS', TOPICS, '')
if not before and count >= tonumber(ARGV[4]) then
	return {'LIMIT'}
end
if before and ARGV[3] == '1' then
	for word in string.gmatch(before, '%S+') do
		local name = string.match(word, '^([^=]*=)')
		if name and name ~= 'ver=' and not find(' ' .. text, ' ' .. name, 1, true) then
			text = text .. ' ' .. word
		end
	end
end
local last_version = dropped or string.match(' ' .. (before or ''), ' ver=(%d+)') or 0
text = text .. ' ver=' .. digits(math.max(time_us(), tonumber(last_version) + 1))
text = string.match(text, '^ *(.*)')
call('HSET', TOPICS, topic, text)
call('HDEL', DROPPED, topic)
call('HINCRBY', META, 'topics', 1)
-- The group is made here, because a server over maxmemory makes none. It answers with an error if
-- the group is there.
if find(' ' .. text .. ' ', ' queue=1 ', 1, true) then
	redis.pcall('XGROUP', 'CREATE', STREAM, 'g', '0', 'MKSTREAM')
end
return {'OK', text}

-- topic_drop: forgets the settings of a topic, in the shard of its name. The shard remembers the
-- version of the drop, so that an older copy does not bring the settings back. topic_copy.lua then
-- tells every shard.
--
-- uses: change settings
--
-- KEYS      m t u n q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC
-- ARGV      1 topic   2 the newest settings of it that the caller has read, as topic_set
-- returns   {'OK', 'ver=N gone=1'}; {'NONE'}: it has no settings; {'BUSY'}: its queue has messages;
--           {'NOSESSION'}: as topic_set. A key of another type, which another program has made,
--           stays
--           {'TYPE', key, its type, the right one}: another program has made this key
-- cost      O(1)
local topic = ARGV[1]

-- length: of a list or sorted set. One that another program has made with another type counts as
-- empty.
local function length(command, key)
	return tonumber(redis.pcall(command, key)) or 0
end

local wrong = wrong_hash(TOPICS, DROPPED)
if wrong then
	return wrong
end
if call('HEXISTS', META, 'shards') == 0 then
	return {'NOSESSION'}
end
local before, last_version = newest(topic, ARGV[2])
if not before then
	return {'NONE'}
end
if length('LLEN', WAITING) + length('ZCARD', TAKEN) + length('ZCARD', LATER) > 0 then
	return {'BUSY'}
end
local version = next_version(last_version)
local before_number = change_number()
call('HDEL', TOPICS, topic)
call('HSET', DROPPED, topic, version)
redis.pcall('HDEL', COUNTS, 'dropped:' .. topic, 'expired:' .. topic)
call('UNLINK', MESSAGES, CONSUMERS)
mark_settings(topic, '')
write_marks()
note_changes(before_number, {topic})
return {'OK', 'ver=' .. version .. ' gone=1'}

-- topic_drop: deletes the settings of a topic, in the shard of its name. The shard remembers the
-- version of the drop, so that an older copy does not bring the settings back. topic_copy.lua then
-- writes the drop into every shard.
--
-- uses: change settings
--
-- KEYS      m t u n q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC
-- ARGV      1 topic   2 the newest settings of the topic that the caller has read, as for topic_set
-- returns   {'OK', 'ver=N gone=1'}; {'NONE'}: the topic has no settings; {'BUSY'}: its queue has
--           messages; {'NOSESSION'}: the shard is empty, as for topic_set. If another program has
--           made `q`, `qt` or `ql` with another type, this key stays
--           {'TYPE', key, its type, the right type}: another program has made this key
-- cost      O(1)
local topic = ARGV[1]

-- length returns the length of a list or sorted set. If another program has made the key with
-- another type, the length is 0.
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

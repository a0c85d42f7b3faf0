-- topic_drop: forgets the settings of a topic, in the shard of its name.
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`
-- ARGV      1 topic
-- returns   {'OK', 0, 0}: as topic_set; {'NONE'}: it has no settings; {'BUSY'}: its queue has
--           messages
-- cost      O(1)
local TOPICS, COUNTS, STREAM, LATER = unpack(KEYS, 10)
local topic = ARGV[1]

if not call('HGET', TOPICS, topic) then
	return {'NONE'}
end
if call('EXISTS', STREAM) == 1 and call('XLEN', STREAM) + call('ZCARD', LATER) > 0 then
	return {'BUSY'}
end
call('HDEL', TOPICS, topic)
call('HDEL', COUNTS, 'dropped:' .. topic, 'expired:' .. topic)
call('UNLINK', STREAM)
call('HINCRBY', META, 'topics', 1)
return {'OK', 0, 0}

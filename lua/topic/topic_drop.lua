-- topic_drop: forgets the settings of a topic, in the shard of its name. The shard remembers the
-- version of the drop, so that an older copy does not bring the settings back. topic_copy.lua then
-- tells every shard.
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`; `u` is named from `t`
-- ARGV      1 topic
-- returns   {'OK', 'ver=N gone=1'}; {'NONE'}: it has no settings; {'BUSY'}: its queue has messages;
--           {'NOSESSION'}: as topic_set. A key of another type, which another program has made,
--           stays
-- cost      O(1)
local TOPICS, COUNTS, STREAM, LATER = unpack(KEYS, 10)
local topic = ARGV[1]
local before = call('HGET', TOPICS, topic)

if call('HEXISTS', META, 'shards') == 0 then
	return {'NOSESSION'}
end
if not before then
	return {'NONE'}
end
local is_stream = call('TYPE', STREAM).ok == 'stream'
if is_stream and call('XLEN', STREAM) + (tonumber(redis.pcall('ZCARD', LATER)) or 0) > 0 then
	return {'BUSY'}
end
local last_version = tonumber(string.match(' ' .. before, ' ver=(%d+)') or 0)
local version = digits(math.max(time_us(), last_version + 1))
call('HDEL', TOPICS, topic)
call('HSET', sub(TOPICS, 1, -2) .. 'u', topic, version)
call('HDEL', COUNTS, 'dropped:' .. topic, 'expired:' .. topic)
if is_stream then
	call('UNLINK', STREAM)
end
call('HINCRBY', META, 'topics', 1)
return {'OK', 'ver=' .. version .. ' gone=1'}

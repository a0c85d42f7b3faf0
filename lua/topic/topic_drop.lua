-- topic_drop: forgets the settings of a topic, in the shard of its name. The shard remembers the
-- version of the drop, so that an older copy does not bring the settings back. topic_copy.lua then
-- tells every shard.
--
-- uses: common topic
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`; `u` is named from `t`
-- ARGV      1 topic   2 the newest settings of it that the caller has read, as topic_set
-- returns   {'OK', 'ver=N gone=1'}; {'NONE'}: it has no settings; {'BUSY'}: its queue has messages;
--           {'NOSESSION'}: as topic_set. A key of another type, which another program has made,
--           stays
--           {'TYPE', key, its type, the right one}: another program has made this key
-- cost      O(1)
local COUNTS, STREAM, LATER = unpack(KEYS, 11)
local topic = ARGV[1]

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
local is_stream = call('TYPE', STREAM).ok == 'stream'
if is_stream and call('XLEN', STREAM) + (tonumber(redis.pcall('ZCARD', LATER)) or 0) > 0 then
	return {'BUSY'}
end
local version = digits(math.max(time_us(), last_version + 1))
call('HDEL', TOPICS, topic)
call('HSET', DROPPED, topic, version)
redis.pcall('HDEL', COUNTS, 'dropped:' .. topic, 'expired:' .. topic)
if is_stream then
	call('UNLINK', STREAM)
end
call('HINCRBY', META, 'topics', 1)
return {'OK', 'ver=' .. version .. ' gone=1'}

-- topic_set: makes or changes the settings of a topic, in the shard of its name.
--
-- KEYS      the nine of the shard, `t`, `n`, and the topic's `q:` and `y:`
-- ARGV      1 topic   2 settings   3 '1': the settings that are not named stay
--           4 most topics of a shard
-- returns   {'OK', 1 if the topic takes no puts now, else 0, how long it keeps the ends of its
--           timers (us)}; {'LIMIT'}: there are too many topics
-- cost      O(1)
local TOPICS, _, STREAM = unpack(KEYS, 10)
local topic, text = ARGV[1], ARGV[2]
local before = call('HGET', TOPICS, topic)

if not before and call('HLEN', TOPICS) >= tonumber(ARGV[4]) then
	return {'LIMIT'}
end
if before and ARGV[3] == '1' then
	for word in string.gmatch(before, '%S+') do
		local name = string.match(word, '^([^=]*=)')
		if name and not string.find(' ' .. text, ' ' .. name, 1, true) then
			text = text .. ' ' .. word
		end
	end
end
call('HSET', TOPICS, topic, text)
call('HINCRBY', META, 'topics', 1)
-- The group is made here, because a server over maxmemory makes none. It answers with an error if
-- the group is there.
if string.find(' ' .. text .. ' ', ' queue=1 ', 1, true) then
	redis.pcall('XGROUP', 'CREATE', STREAM, 'g', '0', 'MKSTREAM')
end
local paused = tonumber(string.match(' ' .. text, ' paused=(%d+)')) or 0
local keep = tonumber(string.match(' ' .. text, ' keep=(%d+)')) or 0
return {'OK', paused >= 2 and 1 or 0, keep}

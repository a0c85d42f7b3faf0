-- topic_close: tells a shard that a topic takes no puts, or takes them again. Every shard is told,
-- because the ids of a topic are in all of them.
--
-- KEYS      the nine of the shard
-- ARGV      1 topic   2 '1': it takes none
-- returns   {'OK', 0}
-- cost      O(N) topics that take no puts
local topic = ARGV[1] .. '\n'
local closed = '\n' .. (call('HGET', META, 'closed') or '')
local from, to = string.find(closed, '\n' .. topic, 1, true)

if from then
	closed = sub(closed, 1, from) .. sub(closed, to + 1)
end
closed = sub(closed, 2) .. (ARGV[2] == '1' and topic or '')
if closed == '' then
	call('HDEL', META, 'closed')
else
	call('HSET', META, 'closed', closed)
end
return {'OK', 0}

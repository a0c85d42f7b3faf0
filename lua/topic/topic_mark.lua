-- topic_mark: tells a shard what its scripts must know of a topic. Every shard is told, because the
-- ids of a topic are in all of them.
--
-- KEYS      the nine of the shard
-- ARGV      1 topic   2 '1': it takes no puts   3 how long it keeps the ends of its timers (us); 0
-- returns   {'OK', 0}
-- cost      O(N) topics that take no puts, or keep ends
local topic = ARGV[1]

-- mark: in this field of META, line stands for the line that begins so; '' removes it.
local function mark(field, beginning, line)
	local lines = '\n' .. (call('HGET', META, field) or '')
	local from, to = string.find(lines, '\n' .. beginning, 1, true)
	if from then
		to = string.find(lines, '\n', to, true)
		lines = sub(lines, 1, from) .. sub(lines, to + 1)
	end
	lines = sub(lines, 2) .. line
	if lines == '' then
		call('HDEL', META, field)
	else
		call('HSET', META, field, lines)
	end
end

mark('closed', topic .. '\n', ARGV[2] == '1' and topic .. '\n' or '')
mark('keeps', topic .. '\t', ARGV[3] ~= '0' and topic .. '\t' .. ARGV[3] .. '\n' or '')
return {'OK', 0}

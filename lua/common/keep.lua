-- keep: which topics keep the ends of their timers.
--
-- uses: base

local keeps -- what META says of it, a line for each topic

local function topic_keep(topic)
	keeps = keeps or '\n' .. (call('HGET', META, 'keeps') or '')
	local _, to = string.find(keeps, '\n' .. topic .. '\t', 1, true)
	return to and tonumber(string.match(keeps, '^%d+', to + 1)) or 0
end

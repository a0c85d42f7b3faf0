-- keep: finds out for how long a topic keeps the ends of its timers.
--
-- uses: base

local keeps -- `keeps` in META, with a newline before it

local function topic_keep(topic)
	keeps = keeps or '\n' .. (call('HGET', META, 'keeps') or '')
	local _, to = string.find(keeps, '\n' .. topic .. '\t', 1, true)
	return to and tonumber(string.match(keeps, '^%d+', to + 1)) or 0
end

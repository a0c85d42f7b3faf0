-- sums: adds up what peers have counted. The counters of a peer that has left stay in the sum, so
-- no sum becomes smaller.
--
-- uses: base digits

-- The counters of a report: JSON, in which each is a number or a list of numbers.
local OF_PEER = {'fired', 'settled', 'retried', 'dead', 'late', 'corrupt', 'store_failures', 'put',
	'cancelled', 'moved', 'duplicates', 'store_operations', 'waited_us', 'lateness_sum_us',
	'lateness_buckets', 'handler_sum_us', 'handler_buckets', 'rest'}
-- The counters of a topic: words NAME=NUMBER in its line.
local OF_TOPIC = {'done', 'retried', 'dead', 'started', 'late'}
local TOPICS_SUMMED = 1000

-- add_numbers adds the numbers in a text to those of sums[name], one by one.
local function add_numbers(sums, name, text)
	local list, at = sums[name] or {}, 0
	for number in string.gmatch(text, '%d+') do
		at = at + 1
		list[at] = (list[at] or 0) + tonumber(number)
	end
	sums[name] = list
end

local function add_report(sums, text)
	for _, name in ipairs(OF_PEER) do
		local key = '"' .. name .. '":'
		local list = string.match(text, key .. '(%b[])')
		sums.is_list[name] = sums.is_list[name] or list ~= nil
		add_numbers(sums, name, list or string.match(text, key .. '(%d+)') or '')
	end
end

local function report_of(sums)
	local words = {}
	for _, name in ipairs(OF_PEER) do
		local list = {}
		for k, number in ipairs(sums[name] or {}) do
			list[k] = digits(number)
		end
		local text = table.concat(list, ',')
		if list[1] then
			insert(words, '"' .. name .. '":' ..
				(sums.is_list[name] and '[' .. text .. ']' or text))
		end
	end
	return '{' .. table.concat(words, ',') .. '}'
end

-- add_topics adds the counters of each topic. Over time there may have been more topics than can
-- exist at once. So it sums at most TOPICS_SUMMED topics, and leaves out those that come last.
local function add_topics(sums, text)
	for topic, line in string.gmatch(text, '([^\t\n]+)\t([^\n]*)') do
		if not sums[topic] and #sums < TOPICS_SUMMED then
			insert(sums, topic)
			sums[topic] = {}
		end
		for _, name in ipairs(sums[topic] and OF_TOPIC or {}) do
			add_numbers(sums[topic], name,
				string.match(' ' .. line, ' ' .. name .. '=(%d+)') or '')
		end
	end
end

local function topics_of(sums)
	local lines = {}
	for _, topic in ipairs(sums) do
		local words = {}
		for _, name in ipairs(OF_TOPIC) do
			local number = sums[topic][name][1]
			if number then
				insert(words, name .. '=' .. digits(number))
			end
		end
		insert(lines, topic .. '\t' .. table.concat(words, ' ') .. '\n')
	end
	return table.concat(lines)
end

-- sum_of returns the sum of these texts. A time (us) and a blank stand before each text. kind is
-- 'r' for reports, and 't' for numbers of topics.
local function sum_of(kind, texts)
	local sums = kind == 'r' and {is_list = {}} or {}
	for _, text in ipairs(texts) do
		text = string.match(text, '^%d+ (.*)') or ''
		(kind == 'r' and add_report or add_topics)(sums, text)
	end
	return (kind == 'r' and report_of or topics_of)(sums)
end

-- topic_changes: returns the settings of the topics that have changed in the shard since the owner
-- has read them. The script only reads.
--
-- uses: names settings
--
-- KEYS      m t u
-- ARGV      1 the change number that the last call has returned, or '': this is the first call
-- returns   {'OK', change number, 0, topic, text, ...}: the topics that have changed since. The
--           text 'ver=N gone=1' is a drop
--           {'OK', change number, 1, topic, text, ...}: all settings and drops, because the shard
--           does not remember what has changed
--           A key of another type, which another program has made, counts as empty
-- cost      O(N) topics that have changed, or O(N) all topics
local has_topics, has_drops = is_hash(TOPICS), is_hash(DROPPED)

-- changed_since returns the topics that have changed since that change number. It returns nil if
-- the shard does not know that. The numbers of the lines must join, because another program may
-- have changed settings between two lines.
local function changed_since(number, present)
	local topics, at = {}, nil
	if number == present then
		return topics
	end
	local lines = call('HGET', META, 'recent') or ''
	for before, behind, names in string.gmatch(lines, '(%d+)\t(%d+)\t([^\n]*)\n') do
		if before ~= at then
			topics = {}
			at = before == number and before or nil
		end
		at = at and behind
		for topic in string.gmatch(names, '[^\t]+') do
			topics[topic] = true
		end
	end
	return at == present and topics or nil
end

local function add_all(answer)
	local fields = has_topics and call('HGETALL', TOPICS) or {}
	for k = 1, #fields, 2 do
		if fields[k] ~= '' then
			insert(answer, fields[k])
			insert(answer, fields[k + 1])
		end
	end
	local dropped = has_drops and call('HGETALL', DROPPED) or {}
	for k = 1, #dropped, 2 do
		insert(answer, dropped[k])
		insert(answer, 'ver=' .. dropped[k + 1] .. ' gone=1')
	end
	return answer
end

if not has_topics or not has_drops or not is_hash(META) then
	return add_all({'OK', '0', 1})
end
local present = change_number()
local changed = changed_since(ARGV[1], present)
if not changed then
	return add_all({'OK', present, 1})
end
local answer = {'OK', present, 0}
for _, topic in ipairs(names_in(changed)) do
	local text = settings_of(topic)
	if text then
		insert(answer, topic)
		insert(answer, text)
	end
end
return answer

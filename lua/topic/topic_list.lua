-- topic_list: returns the settings of topics that the shard has, and the drops that it remembers.
-- The script only reads.
--
-- uses: settings
--
-- KEYS      l m t u
-- ARGV      1 topic, or '': all topics   2 '1': with the numbers of the owner
-- returns   {'OK', how many topics have settings, numbers, holder, topic, text, ...}. The numbers
--           are what the owner has reported, and the holder is that of the lease. Both are ''
--           without ARGV 2, or if no process has the lease. The text 'ver=N gone=1' is a drop
--           A key of another type, which another program has made, counts as empty
-- cost      O(N) topics. O(1) if ARGV 1 is a topic
local topic = ARGV[1]
local has_topics, has_drops = is_hash(TOPICS), is_hash(DROPPED)
local answer = {'OK', 0, '', ''}

local function add(name, text)
	insert(answer, name)
	insert(answer, text)
end

if ARGV[2] == '1' and call('EXISTS', LEASE) == 1 and is_hash(META) then
	answer[3] = has_topics and call('HGET', TOPICS, '') or ''
	answer[4] = call('HGET', META, 'holder') or ''
end
if has_topics then -- the field '' has the owner's numbers, and is no topic
	answer[2] = call('HLEN', TOPICS) - call('HEXISTS', TOPICS, '')
end
if topic ~= '' then
	local text = has_topics and has_drops and settings_of(topic)
	if text then
		add(topic, text)
	end
	return answer
end
local fields = has_topics and call('HGETALL', TOPICS) or {}
for k = 1, #fields, 2 do
	if fields[k] ~= '' then
		add(fields[k], fields[k + 1])
	end
end
local dropped = has_drops and call('HGETALL', DROPPED) or {}
for k = 1, #dropped, 2 do
	add(dropped[k], 'ver=' .. dropped[k + 1] .. ' gone=1')
end
return answer

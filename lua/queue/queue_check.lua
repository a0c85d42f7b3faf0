-- queue_check: what is wrong with the queues of the shard, a page of their messages. Reads only.
--
-- uses: common queue
--
-- KEYS      the nine of the shard, and `t`; the queues' keys are named from it
-- ARGV      1 the topic where the last page ended, '' at first   2 its last entry, '' if it is done
--           3 the most messages of a page
-- returns   {topic, entry, key, what is wrong, ...}: where the page ends; topic '': all are checked
-- cost      O(N log N) topics of the shard, and O(N) messages of the page
local TOPICS = KEYS[10]
local prefix = sub(TOPICS, 1, -2)
local left = tonumber(ARGV[3])
local flaws = {'', ''}

local function flaw(key, what)
	insert(flaws, key)
	insert(flaws, what)
end

-- check_queue looks at the messages behind an entry. It returns the last one, if there are more.
local function check_queue(topic, entry)
	local stream, later = prefix .. 'q:' .. topic, prefix .. 'y:' .. topic
	local wrong = wrong_type(stream, later)
	if wrong then
		flaw(wrong[2], format('is of the type %s instead of %s: rename or delete it',
			wrong[3], wrong[4]))
		return nil
	end
	local entries = call('XRANGE', stream, entry == '' and '-' or '(' .. entry, '+',
		'COUNT', left)
	for _, found in ipairs(entries) do
		local _, words = message_of(found[2])
		if words then
			flaw(stream, format('the message %s %s: the next take drops it', found[1],
				words))
		end
	end
	left = left - #entries
	return left == 0 and entries[1] and entries[#entries][1]
end

-- check_hash: has the key the right type? It is told once, on the first page.
local function check_hash(key)
	local found = call('TYPE', key).ok
	if found == 'hash' or found == 'none' then
		return true
	end
	if ARGV[1] == '' then
		flaw(key, format('is of the type %s instead of hash: rename or delete it', found))
	end
	return false
end

check_hash(prefix .. 'u')
check_hash(prefix .. 'n')
if not check_hash(TOPICS) then
	return flaws
end
local all, topics = call('HGETALL', TOPICS), {}
for k = 1, #all, 2 do
	insert(topics, all[k])
end
table.sort(topics)
for _, topic in ipairs(topics) do
	local goes_on = topic == ARGV[1]
	if topic ~= '' and (topic > ARGV[1] or (goes_on and ARGV[2] ~= '')) then
		local last_entry = check_queue(topic, goes_on and ARGV[2] or '')
		if last_entry then
			flaws[1], flaws[2] = topic, last_entry
			break
		end
	end
end
return flaws

-- purge: deletes all timers, dead letters, ends and inbox entries of the shard.
--
-- uses: base newer owner
--
-- KEYS      l m z h i d D e E x t
-- ARGV      1-6 as README.md says; the role is owner
-- returns   {'OK', number of deleted timers and letters, topic, ...}: queue_purge.lua then deletes
--           the messages of these topics; {'OK', 'NEWER'}: some timers or letters are, or were, of
--           a later version, and nothing was deleted; or a refusal
-- cost      O(1), and O(N) topics; the memory is freed in the background
local refusal = owner_enters()
if refusal then
	return refusal
end

local answer = {'OK', call('HLEN', VALUES) + call('ZCARD', DEAD)}
local newer = may_have_newer()
local topics = call('HGETALL', TOPICS)
touch()
if newer then
	answer[2] = 'NEWER'
else
	call('UNLINK', TIMERS, VALUES, INBOX, DEAD, LETTERS, NAMES, ENDS, UNTILS)
	for k = 1, #topics, 2 do
		if topics[k] ~= '' then
			insert(answer, topics[k])
		end
	end
end
use_up()
return answer

-- purge: deletes all timers, dead letters, ends, inbox entries and messages of the shard.
--
-- uses: base ends newer owner
--
-- KEYS      the nine of the shard
-- ARGV      1-6 as in README.md; role owner
-- returns   {'OK', number of deleted timers and letters}; {'OK', 'NEWER'}: some are, or were, of a
--           later version, and nothing was deleted; or a refusal
-- cost      O(1); the memory is freed in the background
local refusal = owner_enters()
if refusal then
	return refusal
end

local count = call('HLEN', VALUES) + call('ZCARD', DEAD)
local newer = may_have_newer()
touch()
if newer then
	count = 'NEWER'
else
	call('UNLINK', TIMERS, VALUES, INBOX, DEAD, LETTERS, NAMES, ENDS, UNTILS)
	-- The messages go, too; the settings of their topics stay.
	local prefix = sub(LEASE, 1, -2)
	local topics = call('HGETALL', prefix .. 't')
	for k = 1, #topics, 2 do
		if topics[k] ~= '' then
			call('UNLINK', prefix .. 'q:' .. topics[k], prefix .. 'qt:' .. topics[k],
				prefix .. 'ql:' .. topics[k], prefix .. 'qm:' .. topics[k])
		end
	end
end
use_up()
return {'OK', count}

-- purge: deletes all timers, dead letters and inbox entries of the shard.
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
	call('UNLINK', TIMERS, VALUES, INBOX, DEAD, LETTERS, NAMES)
end
leave({})
return {'OK', count}

-- report: stores the owner's status record.
--
-- uses: base owner
--
-- KEYS      l m
-- ARGV      1-6 as README.md says; the role is owner
--           7 text of the record   8 now (us)
-- returns   {'OK'}; or a refusal
-- cost      O(1)
local refusal = owner_enters()
if refusal then
	return refusal
end

touch()
call('HSET', META, 'report', ARGV[7], 'seen', ARGV[8])
use_up()
return {'OK'}

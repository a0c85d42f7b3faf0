-- remove: timers that a script removes. remove_timer notes it, and write_removed does it. So order,
-- values and index always change together.
--
-- uses: base topic

local deleted = {} -- ids
local outdated = {} -- members of the index

-- remove_timer: value: the one that is stored, or false.
local function remove_timer(id, value)
	insert(deleted, id)
	if value then
		insert(outdated, member_of(id, value))
	end
end

local function write_removed()
	write('ZREM', TIMERS, deleted)
	write('HDEL', VALUES, deleted)
	write('ZREM', INDEX, outdated)
end

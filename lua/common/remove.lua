-- remove: timers that a script removes. remove_timer notes it, and write_removed does it. So order
-- and values always change together.
--
-- uses: base

local deleted = {} -- ids

local function remove_timer(id)
	insert(deleted, id)
end

local function write_removed()
	write('ZREM', TIMERS, deleted)
	write('HDEL', VALUES, deleted)
end

-- remove: removes timers. remove_timer notes the id, and write_removed deletes all noted timers. So
-- TIMERS and VALUES always change together.
--
-- uses: base

local deleted = {} -- the ids of the timers to delete

local function remove_timer(id)
	insert(deleted, id)
end

local function write_removed()
	write('ZREM', TIMERS, deleted)
	write('HDEL', VALUES, deleted)
end

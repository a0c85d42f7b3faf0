-- store_new: writes the timers of scripts that add timers.
--
-- uses: owner store

-- store_new does the first write of scripts that add timers. It returns false, or the error of
-- Redis: out of memory, or writes refused. After an error nothing was done, and the number is not
-- used up.
local function store_new()
	if scores[1] then
		local reply = redis.pcall('ZADD', TIMERS, unpack(scores))
		if type(reply) == 'table' and reply.err then
			return reply
		end
		scores = {}
	end
	touch()
	write_timers()
	return false
end

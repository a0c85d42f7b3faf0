-- store: timers that a script stores. store_timer notes it, and write_timers does it, and what
-- remove_timer has noted. Only scripts that change neither topic nor deadline write a value by
-- themselves: a claim, for example.
--
-- uses: base digits owner remove

local scores, stored, places = {}, {}, {}

-- store_timer: a script may store an id more than once: the last value counts.
local function store_timer(id, value, place)
	local at = places[id] or #stored + 1
	places[id] = at
	scores[at], scores[at + 1] = digits(place), id
	stored[at], stored[at + 1] = id, value
end

-- write_timers: the first write needs memory, so a full server refuses it, and nothing was done.
local function write_timers()
	write('ZADD', TIMERS, scores)
	write('HSET', VALUES, stored)
	write_removed()
end

-- store_new is the first write of scripts that add timers. Returns false, or the error of Redis:
-- out of memory, or writes refused. After an error nothing was done, and the number is not used up.
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

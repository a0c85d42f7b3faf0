-- store: timers that a script stores. store_timer notes it, and write_timers does it, and what
-- remove_timer has noted. Only scripts that change neither topic nor deadline write a value by
-- themselves: a claim, for example.
--
-- uses: base digits remove

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

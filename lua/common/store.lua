-- store: stores timers. store_timer notes the timer. write_timers writes all noted timers, and
-- deletes those that remove_timer has noted. A script may write values by itself only if it changes
-- neither topic nor deadline, as a claim does.
--
-- uses: base digits remove

local scores, stored, places = {}, {}, {}

-- store_timer notes the value and the score of an id. A script may store an id more than once. Then
-- the last value counts.
local function store_timer(id, value, place)
	local at = places[id] or #stored + 1
	places[id] = at
	scores[at], scores[at + 1] = digits(place), id
	stored[at], stored[at + 1] = id, value
end

-- write_timers writes the noted timers. If its ZADD is the first write of the script, a full server
-- refuses it, because it needs memory. Then nothing was done.
local function write_timers()
	write('ZADD', TIMERS, scores)
	write('HSET', VALUES, stored)
	write_removed()
end

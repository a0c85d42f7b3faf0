-- version: assigns the versions of the shard. `last` in begin.lua is the last version.
--
-- uses: begin clock

-- A version may be ahead of the clock by at most this time (us). Each put takes as many numbers as
-- there are shards, so a burst of 14 million puts in 256 shards keeps its order.
local AHEAD = 3600000000
local number_of_shard

-- shard returns the number of the shard, which is in the name of its keys.
local function shard()
	number_of_shard = number_of_shard or tonumber(string.match(META, '^{.*:(%d+)}:'))
	return number_of_shard
end

-- congruent returns the smallest number from `least` on that belongs to this shard. Each number
-- belongs to one shard.
local function congruent(least)
	return least + (shard() - least) % shards
end

-- next_ver returns the next version. `floor` is the time when the caller asked. It is used if it is
-- near the clock, so that timers of different shards keep the order of the calls.
local function next_ver(floor)
	local base = now()
	floor = tonumber(floor)
	if floor and floor >= base - 2000000 and floor <= base + AHEAD then
		base = floor
	end
	last = congruent(base > last and base or last + 1)
	return last
end

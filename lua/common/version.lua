-- version: the versions that the shard gives. begin.lua knows the last one.
--
-- uses: begin clock

-- How far a version may be ahead of the clock, in us. Each put takes as many numbers as there are
-- shards, so a burst of 14 million puts in 256 shards keeps its order.
local AHEAD = 3600000000
local number_of_shard

-- shard: the number of the shard, from the name of its keys.
local function shard()
	number_of_shard = number_of_shard or tonumber(string.match(META, '^{.*:(%d+)}:'))
	return number_of_shard
end

-- congruent: the smallest number from `least` on that belongs to this shard. Each number belongs to
-- one shard.
local function congruent(least)
	return least + (shard() - least) % shards
end

-- next_ver: the next version. floor: the time at which the caller asked. It is used if it is near
-- the clock, so that timers of different shards keep the order of the calls.
local function next_ver(floor)
	local base = now()
	floor = tonumber(floor)
	if floor and floor >= base - 2000000 and floor <= base + AHEAD then
		base = floor
	end
	last = congruent(base > last and base or last + 1)
	return last
end

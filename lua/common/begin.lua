-- begin: what a script knows that changes timers.

local owner = ARGV[1] == 'o' -- or a client
local fence -- of an owner
local guard -- the key that proves the caller: its lease, or its session
local first, last -- the last version of the shard before the script, and now
local shards -- how many the namespace has
local closed -- the topics that take no puts, a line each; or nil

-- begin sets the last version and the number of shards, from META.
local function begin(ver, count)
	first = tonumber(ver) or 0
	last = first
	shards = tonumber(count)
end

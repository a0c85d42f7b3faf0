-- begin: holds what a script that changes timers knows of its caller and of the shard.

local owner = ARGV[1] == 'o' -- true: the caller is an owner; false: it is a client
local fence -- the owner's fence; nil: the caller is a client
local guard -- the key that proves who the caller is: its lease or its session
local first, last -- the shard's last version before the script, and now
local shards -- the number of shards of the namespace
local closed -- text with a line for each topic that takes no puts; or nil

-- begin sets the last version and the number of shards, which the caller has read from META.
local function begin(ver, count)
	first = tonumber(ver) or 0
	last = first
	shards = tonumber(count)
end

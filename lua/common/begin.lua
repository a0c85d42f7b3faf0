-- begin: holds what a script that changes timers knows of its caller and of the shard.

local owner = ARGV[1] == 'o' -- true: the caller is an owner; false: it is a client
local fence -- the owner's fence; nil: the caller is a client
local guard -- the key that proves who the caller is: its lease or its session
local first, last -- the shard's last version before the script, and now
local shards -- the number of shards of the namespace
local closed -- text with a line for each topic that takes no puts; or nil

-- begin sets the last version, the number of shards and the closed topics. The caller has read them
-- from META.
local function begin(ver, count, lines)
	first = tonumber(ver) or 0
	last = first
	shards = tonumber(count)
	closed = lines and '\n' .. lines
end

-- topic_is_closed returns true if this topic is paused and takes no puts.
local function topic_is_closed(name)
	return closed and string.find(closed, '\n' .. name .. '\n', 1, true)
end

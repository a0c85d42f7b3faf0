-- clock: reads the time of the server.
local time_of_script

-- now returns the time of the server (us). The time stays the same while the script runs.
local function now()
	if not time_of_script then
		local time = redis.call('TIME')
		time_of_script = time[1] * 1000000 + time[2]
	end
	return time_of_script
end

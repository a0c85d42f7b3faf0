-- outage: handles owners that may start timers while they are cut off from Redis.
--
-- uses: base begin digits

-- must_wait returns the owner's fence if the owner may start timers while it is cut off, and has
-- not released the shard. A client's change is then certain only when this owner has acknowledged
-- it. In all other cases, and in an owner's call, must_wait returns false.
local function must_wait()
	local meta = not owner and call('HMGET', META, 'fire', 'fence')
	return meta and meta[1] and meta[2]
end

-- wait_for returns the answer to a change that is certain only when the owner has acknowledged
-- `version`. `waits` is the owner's fence, and `code` is the answer that then counts.
local function wait_for(waits, version, code)
	return {WAIT, digits(math.abs(tonumber(version))) .. ':' .. waits .. ':' .. code}
end

-- jump returns two numbers. Owners that were cut off may have started versions up to the first
-- number, with attempts that Redis does not know. A claim of such a version raises the attempt by
-- the second number.
local function jump()
	local version, step = string.match(call('HGET', META, 'jump') or '0:1', '^(%d+):(%d+)')
	return tonumber(version), tonumber(step)
end

-- late_changes iterates over `late` in META. Each step returns a version, a mark and an id. The
-- mark is ';' if the timer is done, and ':' if it is not.
local function late_changes()
	return string.gmatch(call('HGET', META, 'late') or '', '(%d+)([:;])([^\n]*)\n')
end

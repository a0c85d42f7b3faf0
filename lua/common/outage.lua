-- outage: owners that may start timers while they are cut off.
--
-- uses: base begin digits

-- must_wait: the owner may start timers while it is cut off, and has not released. So a client's
-- change is certain when this owner has acknowledged it. Returns the owner's fence, or false.
local function must_wait()
	local meta = not owner and call('HMGET', META, 'fire', 'fence')
	return meta and meta[1] and meta[2]
end

-- wait_for: the answer of a change that is certain when the owner has acknowledged that version.
local function wait_for(waits, version, code)
	return {WAIT, digits(math.abs(tonumber(version))) .. ':' .. waits .. ':' .. code}
end

-- jump: versions up to the first number may have been started by owners that were cut off, with
-- attempts that Redis does not know. A claim of them raises the attempt by the second number.
local function jump()
	local version, step = string.match(call('HGET', META, 'jump') or '0:1', '^(%d+):(%d+)')
	return tonumber(version), tonumber(step)
end

-- late_changes iterates over `late` in META: version, ';' if the timer is done, else ':', and id.
local function late_changes()
	return string.gmatch(call('HGET', META, 'late') or '', '(%d+)([:;])([^\n]*)\n')
end

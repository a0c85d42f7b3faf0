-- end_timer: stores how timers ended, if their ends are kept.
--
-- uses: base begin clock digits keep topic value

-- own_keep returns for how long (us) the timer's own record says that its end is kept (tag 3 in
-- src/timer/record.h). It returns 0 if the record does not say that.
local function own_keep(value)
	if (string.byte(value, BODY) or 0) % WHY ~= 3 or sub(value, 43, 46) ~= 'DWT\2' or
		#value < 71 then
		return 0
	end
	local size, _, id_size, topic_size, _, data_size = words_of('<I4I4BBI2I4', value, 47)
	local at, behind = 71 + id_size + topic_size, 43 + size - data_size
	if behind > #value + 1 then
		return 0
	end
	while at + 4 <= behind and string.byte(value, at) < 3 do
		at = at + 4 + words_of('<I2', value, at + 2)
	end
	if at + 12 > behind or string.byte(value, at) ~= 3 then
		return 0
	end
	local low, high = words_of('<I4I4', value, at + 4)
	return high < 2147483648 and high * WORD + low or 0
end

-- ender returns the owner or the client that ends the timer, as 'HOST pid N'. It returns '' for a
-- caller without a session.
local function ender()
	local key = fence and META or guard -- cancel_one.lua has no guard
	local holder = key and call('HGET', key, fence and 'holder' or 'who') or ''
	local host, pid = string.match(holder, '^(.-), pid (%d+)')
	return sub(host and host .. ' pid ' .. pid or string.match(holder, '^[^|]*'), 1, 127)
end

-- end_timer is called when the timer with this intact value ends. `how` says whether the timer is
-- done, cancelled or dead, and `reason` says why it is dead. If the end is kept, end_timer notes
-- it, and write_ends writes it. `started` is the time (8 bytes) when the handler started, and
-- `result` is the bytes of dw_set_result().
local DONE, CANCELLED, DIED = 1, 2, 3
local NEVER = '\0\0\0\0\0\0\0\0' -- the value of `started` if no start is known
local KEEP_MAX = 90 * 86400000000
local ends, untils, by = {}, {}, nil

local function end_timer(id, value, how, reason, started, result)
	local topic, keep = topic_of(value), own_keep(value)
	if keep == 0 then
		keep = topic_keep(topic)
	end
	if keep == 0 or #topic > 63 then
		return
	end
	if not by then
		call('HLEN', ENDS) -- these two fail on a wrong type, before the first write
		call('ZCARD', UNTILS)
		by = ender()
	end
	local flags, attempt = words_of('<I4I4', value)
	local till = now() + math.min(keep, KEEP_MAX)
	insert(ends, id)
	insert(ends, pack('<BBBBBBI2', 1, how, reason, #topic, #by, 0, #result) ..
		sub(value, 9, 24) .. started ..
		pack('<I8I8I4I4', now(), till, attempt, math.floor(flags / 65536) % 256) ..
		topic .. by .. result)
	insert(untils, digits(till))
	insert(untils, id)
end

-- write_ends writes the ends. It also deletes at most 64 old ends: those that have expired, or
-- those that expire first if the shard has too many.
local function write_ends()
	if not ends[1] then
		return
	end
	call('HSET', ENDS, unpack(ends))
	call('ZADD', UNTILS, unpack(untils))
	local over = call('ZCARD', UNTILS) - math.floor(1000000 / shards)
	local old = over > 0 and call('ZRANGE', UNTILS, 0, math.min(over, 64) - 1) or
		call('ZRANGEBYSCORE', UNTILS, '-inf', digits(now()), 'LIMIT', 0, 64)
	write('HDEL', ENDS, old)
	write('ZREM', UNTILS, old)
end

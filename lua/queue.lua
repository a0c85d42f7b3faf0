-- The parts that the scripts of queue/ share, behind common.lua: the settings of a topic, and what
-- other programs may have done to its queue.

-- setting: a number in the text of a topic's settings, which begins with a blank; 0 is the default.
local function setting(text, word, default)
	local value = tonumber(string.match(text, ' ' .. word .. '=(-?%d+)')) or 0
	return value == 0 and default or value
end

-- wrong_type: an answer that names the key of this queue, or that of the settings, that another
-- program has made with another type; nil: there is none.
local function wrong_type(stream, later)
	local types = {[KEYS[10]] = 'hash', [stream] = 'stream', [later] = 'zset'}
	for key, wanted in pairs(types) do
		local found = call('TYPE', key).ok
		if found ~= wanted and found ~= 'none' then
			return {'TYPE', key, found, wanted}
		end
	end
	return nil
end

-- message_of: the fields of a message, by name. The second result says what is wrong with it;
-- another program has made such a message. The checksum of the record is not looked at here.
local function message_of(list)
	local fields = {}
	for k = 1, #list, 2 do
		fields[list[k]] = list[k + 1]
	end
	local size = fields.id and #fields.id or 0
	if size < 1 or size > 255 or find(fields.id, '[%z\1-\31\127]') then
		return fields, 'has no valid id'
	elseif not fields.data or #fields.data > 1048576 then
		return fields, 'has no data, or more than 1 MiB'
	elseif not find(fields.due or '', '^%-?%d+$') or #fields.due > 19 then
		return fields, 'has no valid due'
	end
	for _, name in ipairs({'attempt', 'gen', 'sum', 'retries'}) do
		if not find(fields[name] or '', '^%d*$') or #(fields[name] or '') > 20 then
			return fields, 'has no valid ' .. name
		end
	end
	return fields
end

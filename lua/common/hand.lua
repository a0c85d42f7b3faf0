-- hand: the scripts for people and for other languages.
--
-- uses: base digits owner version

-- shard_of: the CRC16 of the id, or of its part in {} as in Redis Cluster, modulo the number of
-- shards.
local function shard_of(id, count)
	local tag = string.match(id, '^[^{]*{([^}]+)}') or id
	local crc = 0
	for i = 1, #tag do
		crc = bit.bxor(crc, string.byte(tag, i) * 256)
		for _ = 1, 8 do
			crc = crc * 2
			if crc >= 65536 then
				crc = bit.bxor(crc, 0x11021)
			end
		end
	end
	return crc % count
end

-- by_hand begins add and cancel_one, which have no session. Returns nil, or an error.
local function by_hand(id)
	local meta = call('HMGET', META, 'ver', 'shards')
	if not meta[2] then
		return redis.error_reply('ERR there is no ' .. META .. '; start its owner once')
	end
	begin(meta[1], meta[2])
	if shard_of(id, shards) ~= shard() then
		return redis.error_reply(string.format('ERR %s is in shard %02d of %d', id,
			shard_of(id, shards), shards))
	end
	return nil
end

-- post_by_hand ends add and cancel_one: puts news into the inbox and wakes the owner.
local function post_by_hand(id, news)
	call('HSET', META, 'ver', digits(last))
	call('ZADD', INBOX, news, id)
	call('PUBLISH', string.match(LEASE, '^({.*):%d+}:') .. '}:wake', shard())
end

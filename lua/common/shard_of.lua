-- shard_of: computes in which shard an id is.

-- shard_of returns the CRC16 of the id, or of its part in {} as in Redis Cluster, modulo the number
-- of shards.
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

-- hand: begins and ends the scripts for people and for other languages.
--
-- uses: base begin digits shard_of version

-- by_hand begins add and cancel_one, which have no session. It returns nil, or an error.
local function by_hand(id)
	local meta = call('HMGET', META, 'ver', 'shards', 'closed')
	if not meta[2] then
		return redis.error_reply(string.format('ERR there is no %s; start its owner once',
			META))
	end
	begin(meta[1], meta[2], meta[3])
	if shard_of(id, shards) ~= shard() then
		return redis.error_reply(string.format('ERR %s is in shard %02d of %d', id,
			shard_of(id, shards), shards))
	end
	return nil
end

-- post_by_hand ends add and cancel_one. It puts the id into the inbox with the score `news`, and
-- wakes the owner.
local function post_by_hand(id, news)
	call('HSET', META, 'ver', digits(last))
	call('ZADD', INBOX, news, id)
	call('PUBLISH', string.match(META, '^{.*:%d+}:') .. 'wake', shard())
end

-- letter: makes a dead letter of a message, in the shard of its id. If the message has its letter
-- already, the script changes nothing.
--
-- uses: base begin clock digits letters version
--
-- KEYS      m d D e
-- ARGV      1 id   2 version   3 reason   4 when it died (us)   5 value
-- returns   {'OK', 0}
-- cost      O(log N)
local name = letter_name(ARGV[1], tonumber(ARGV[2]))
if call('HEXISTS', LETTERS, name) == 0 then
	local meta = call('HMGET', META, 'ver', 'shards', 'dead')
	begin(meta[1], meta[2] or 1)
	local number = tonumber(meta[3] or 0)
	number = congruent(now() > number and now() or number + 1)
	call('HSET', LETTERS, name,
		pack('<I8i8B', number, tonumber(ARGV[4]), tonumber(ARGV[3])) .. ARGV[5])
	call('HSET', META, 'dead', digits(number))
	call('ZADD', DEAD, digits(number), name)
	call('ZADD', NAMES, 0, name)
end
return {'OK', 0}

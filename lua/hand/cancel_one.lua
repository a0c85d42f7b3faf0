-- cancel_one: cancels a timer as a client does. The script is for people and for other languages.
--
-- uses: base end_timer hand newer open remove value version
--
-- KEYS      m z h i E x
-- ARGV      1 id
-- returns   OK: the timer will not start; ENOENT: there is no such timer; ELATE: the timer may have
--           started, or may still start; EUNKNOWN: the timer was deleted, but its owner starts
--           timers while it is cut off, and may start this one until it has read the inbox; or an
--           error: the timer is of a newer durawheel, and nothing was done
-- cost      O(log N)
local id = ARGV[1]
local refusal = by_hand(id)
if refusal then
	return refusal
end

local value = call('HGET', VALUES, id)
local left = left_open(call('ZSCORE', INBOX, id))
call('ZCARD', TIMERS)
if not value then
	return left and 'ELATE' or 'ENOENT'
end
if is_newer(value) then
	return redis.error_reply('ERR the timer is of a newer durawheel, and left alone')
end
local late, open = client_cancels(value)
if late then
	return 'ELATE'
end
local ver = next_ver('')
if decode(value) then
	end_timer(id, value, CANCELLED, 0, NEVER, '')
end

remove_timer(id)
write_removed()
write_ends()
post_by_hand(id, open and -ver or ver)
if open then
	return 'ELATE'
end
return call('HGET', META, 'fire') and 'EUNKNOWN' or 'OK'

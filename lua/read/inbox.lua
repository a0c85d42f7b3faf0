-- inbox: returns the writes of clients that the owner has not acknowledged. The script only reads,
-- and uses no operation number.
--
-- uses: base
--
-- KEYS      l h i
-- ARGV      2 the owner's token   7 limit (at most 1000)   8 how many entries to pass over; may be
--           left out: none
-- returns   {'OK', id, score, value or false, ...}; or {'FENCED'}
-- cost      O(limit)
if call('GET', LEASE) ~= ARGV[2] then
	return {'FENCED'}
end

local from = ARGV[8] or 0
local entries = call('ZRANGE', INBOX, from, from + ARGV[7] - 1, 'WITHSCORES')
local ids = {}
for i = 1, #entries, 2 do
	insert(ids, entries[i])
end
local values = ids[1] and call('HMGET', VALUES, unpack(ids))
local answer = {'OK'}
for k = 1, #ids do
	answer[3 * k - 1], answer[3 * k], answer[3 * k + 1] = ids[k], entries[2 * k], values[k]
end
return answer

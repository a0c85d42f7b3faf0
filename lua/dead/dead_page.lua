-- dead_page: returns the dead letters after a place, in the order in which they died. The script
-- only reads.
--
-- A letter may be damaged or deleted. Its place in the order is its score, whatever its own bytes
-- say.
--
-- uses: base
--
-- KEYS      d D
-- ARGV      1 score, 2 member: the last ones of the page before, or '' and '' for the first page.
--           If the member does not exist, the page begins after all letters with this score
--           3 limit (at most 1000)
-- returns   {member, score, letter or false, ...}
-- cost      O(log N + limit)
local from = 0
if ARGV[1] ~= '' and call('ZSCORE', DEAD, ARGV[2]) == ARGV[1] then
	from = call('ZRANK', DEAD, ARGV[2]) + 1
elseif ARGV[1] ~= '' then
	from = call('ZCOUNT', DEAD, '-inf', ARGV[1])
end
local entries = call('ZRANGE', DEAD, from, from + ARGV[3] - 1, 'WITHSCORES')
local names = {}
for i = 1, #entries, 2 do
	insert(names, entries[i])
end
local letters = names[1] and call('HMGET', LETTERS, unpack(names))
local answer = {}
for k = 1, #names do
	answer[3 * k - 2], answer[3 * k - 1], answer[3 * k] = names[k], entries[2 * k], letters[k]
end
return answer

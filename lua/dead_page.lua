-- dead_page: the dead letters behind one, in the order in which they were set aside. Reads only.
--
-- KEYS      the nine of the shard
-- ARGV      1 number of the last letter of the page before, or 0   2 limit (at most 1000)
-- returns   {member, letter or false, ...}
-- cost      O(log N + limit)
local names = call('ZRANGEBYSCORE', DEAD, '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])
local letters = names[1] and call('HMGET', LETTERS, unpack(names))
local answer = {}
for k = 1, #names do
	answer[2 * k - 1], answer[2 * k] = names[k], letters[k]
end
return answer

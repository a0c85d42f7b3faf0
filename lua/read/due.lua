-- due: returns how many pending timers are due from each of several times to the next one. The
-- script only reads.
--
-- uses: base
--
-- KEYS      z
-- ARGV      2 to 256 times that grow (us, 1 to 2^53 - 1)
-- returns   {count, ...}: one for each time but the last
-- cost      O(log N) for each time
local counts = {}
for k = 1, #ARGV - 1 do
	counts[k] = call('ZCOUNT', TIMERS, ARGV[k], '(' .. ARGV[k + 1])
end
return counts

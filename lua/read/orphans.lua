-- orphans: finds ids that have an entry in TIMERS but no value in VALUES, or a value but no entry.
-- In the same way it compares UNTILS, which has the times of kept ends, with ENDS. Our scripts
-- never leave an orphan, so another program has written or deleted something there. The script only
-- reads.
--
-- uses: base
--
-- KEYS      z h E x
-- ARGV      1 what it looks for: 'z': entries without a value; 'h': values without an entry; 'x':
--           times without an end; 'E': ends without a time   2 cursor, '0' at the start
-- returns   {cursor ('0' at the end), id, ...}
-- cost      O(500)
local order, values = TIMERS, VALUES
if ARGV[1] == 'x' or ARGV[1] == 'E' then
	order, values = UNTILS, ENDS
end
local ids = {}
local page

if ARGV[1] == 'z' or ARGV[1] == 'x' then
	page = call('ZSCAN', order, ARGV[2], 'COUNT', 500)
	for k = 1, #page[2], 2 do
		if call('HEXISTS', values, page[2][k]) == 0 then
			insert(ids, page[2][k])
		end
	end
else
	page = call('HSCAN', values, ARGV[2], 'COUNT', 500)
	for k = 1, #page[2], 2 do
		if not call('ZSCORE', order, page[2][k]) then
			insert(ids, page[2][k])
		end
	end
end
return {page[1], unpack(ids)}

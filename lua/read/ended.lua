-- ended: returns the last ends of timers, if they are kept. The script only reads.
--
-- uses: base clock
--
-- KEYS      E x
-- ARGV      ids
-- returns   {'OK', ...}: for each id its end (src/timer/ended.h), or nil
-- cost      O(1) for each id
local tills = call('ZMSCORE', UNTILS, unpack(ARGV))
local kept = call('HMGET', ENDS, unpack(ARGV))
local answer = {'OK'}
for k = 1, #ARGV do
	answer[k + 1] = tills[k] and tonumber(tills[k]) > now() and kept[k] or false
end
return answer

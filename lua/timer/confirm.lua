-- confirm: returns the outcome of clients' changes that wait for the owner (code 8 of cancel.lua
-- and move.lua).
--
-- uses: args base outage
--
-- KEYS      m i
-- ARGV      1.. for each change: id, its version, and the fence of the owner that it waits for
-- returns   {'OK', ...} with one item for each change. 0: the owner has acknowledged the change, or
--           has given the shard away since, so the timer as it was before does not start any more;
--           1: the owner has not acknowledged it yet; 2: the timer was done before the owner knew
--           of the move; 3: nobody knows the outcome, because there is another owner now, or a
--           later change of the timer came too late; 4: the owner had claimed the timer before it
--           knew of the change
-- cost      O(log N) for each change
local ids = column(1, 3)
local inbox = call('ZMSCORE', INBOX, unpack(ids))
local meta = call('HMGET', META, 'fence', 'fire', 'acked')
local answer, late, last = {'OK'}, {}, {}

for ver, mark, id in late_changes() do
	late[ver .. id] = mark == ';' and ENOENT or LATE
	last[id] = math.max(last[id] or 0, tonumber(ver))
end
for k = 1, #ids do
	local ver = tonumber(ARGV[3 * k - 1])
	local item = 0
	if late[ARGV[3 * k - 1] .. ids[k]] then
		item = late[ARGV[3 * k - 1] .. ids[k]]
	elseif (last[ids[k]] or 0) > ver then
		item = STALE -- the entry in the inbox was that of the later change
	elseif ver <= (tonumber(meta[3]) or 0) then
		item = 0
	elseif meta[1] ~= ARGV[3 * k] then
		item = STALE
	elseif meta[2] and inbox[k] and math.abs(tonumber(inbox[k])) >= ver then
		item = 1 -- an owner that has released the shard starts nothing
	end
	answer[k + 1] = item
end
return answer

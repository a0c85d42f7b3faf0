-- confirm: what became of clients' changes that wait for the owner (code 8 of cancel.lua and
-- move.lua).
--
-- KEYS      the nine of the shard
-- ARGV      1.. for each change: id, its version, the fence of the owner that it waits for
-- returns   {'OK', ...}: 0 the owner has acknowledged it: the timer as it was before does not start
--           any more; 1 not yet; 4 too late: the owner had claimed the timer, or there is another
--           owner now
-- cost      O(log N) a change
local ids = column(1, 3)
local inbox = call('ZMSCORE', INBOX, unpack(ids))
local present = call('HGET', META, 'fence')
local answer, late = {'OK'}, {}

for ver, id in late_changes() do
	late[id] = math.max(late[id] or 0, tonumber(ver))
end
for k = 1, #ids do
	local ver = tonumber(ARGV[3 * k - 1])
	local item = 0
	if present ~= ARGV[3 * k] or (late[ids[k]] or 0) >= ver then
		item = LATE
	elseif inbox[k] and math.abs(tonumber(inbox[k])) >= ver then
		item = 1
	end
	answer[k + 1] = item
end
return answer

-- member: keeps the list of the peers that share the shards of the namespace. The list is in the
-- first shard.
--
-- A member is in the list for 5 s after it was entered last. If its end is later than that, the
-- server's clock was set back, and the member is removed, too.
--
-- uses: base clock digits
--
-- KEYS      o O
-- ARGV      1 'in': enter a member; 'out': remove it; '': only read
--           2 the member, or ''   3 its record, or ''
-- returns   {'OK', now (us), 1 if the member was not in the list before or else 0, then for each
--           member its name, its end (us) and its record}. A list of 64 members takes no new member
-- cost      O(N) members. The script works over maxmemory, because its first write needs no memory
local STAYS, MOST = 5000000, 64

local all = call('ZRANGE', MEMBERS, 0, -1, 'WITHSCORES')
local over, stay, ends, is_new = {''}, {}, {}, true
for k = 1, #all, 2 do
	local member, at = all[k], tonumber(all[k + 1])
	if at <= now() or at > now() + STAYS or (ARGV[1] == 'out' and member == ARGV[2]) then
		insert(over, member)
	else
		insert(stay, member)
		ends[member] = at
		is_new = is_new and member ~= ARGV[2]
	end
end
local enters = ARGV[1] == 'in' and not (is_new and #stay >= MOST)
if enters and is_new then
	insert(stay, ARGV[2])
end

if ARGV[1] ~= '' then
	call('ZREM', MEMBERS, unpack(over))
	call('HDEL', RECORDS, unpack(over))
end
if enters then
	ends[ARGV[2]] = now() + STAYS
	call('ZADD', MEMBERS, digits(ends[ARGV[2]]), ARGV[2])
	call('HSET', RECORDS, ARGV[2], ARGV[3])
end

local answer = {'OK', digits(now()), is_new and 1 or 0}
local records = stay[1] and call('HMGET', RECORDS, unpack(stay)) or {}
for k, member in ipairs(stay) do
	insert(answer, member)
	insert(answer, digits(ends[member]))
	insert(answer, records[k] or '')
end
return answer

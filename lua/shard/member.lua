-- member: keeps the list of the peers that share the shards of the namespace. The list is in the
-- first shard.
--
-- A member is in the list for 5 s after it was entered last. If its end is later than that, the
-- server's clock was set back, and the member is removed, too.
--
-- When a member is removed, the numbers that it has reported (tell.lua) are added to a sum. If the
-- time of a member is over, its numbers stay as they are, because the member may come back. When a
-- new member is entered, such numbers are also added to the sum, except those of the last 16
-- members.
--
-- uses: base clock digits sums
--
-- KEYS      o O R
-- ARGV      1 'in': enter a member; 'out': remove it; '': only read
--           2 the member, or ''   3 its record, or ''
-- returns   {'OK', now (us), 1 if the member was not in the list before or else 0, then for each
--           member its name, its end (us) and its record}. A list of 50 members takes no new member
-- cost      O(N) members, and the bytes of their numbers when one comes or goes. The script works
--           over maxmemory, because its first write needs no memory
local STAYS, MOST, GONE_MOST = 5000000, 50, 16

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

-- fold adds the numbers of these peers to the sum of the peers that have left.
local function fold(peers)
	for _, kind in ipairs({'r', 't'}) do
		local names, texts = {}, {}
		for k, peer in ipairs(peers) do
			names[k] = kind .. ':' .. peer
		end
		for _, text in ipairs(call('HMGET', REPORTS, unpack(names))) do
			if text then
				insert(texts, text)
			end
		end
		if texts[1] then
			insert(texts, call('HGET', REPORTS, kind) or '')
			call('HSET', REPORTS, kind, '0 ' .. sum_of(kind, texts))
			call('HDEL', REPORTS, unpack(names))
		end
	end
end

-- fold_gone adds the numbers of peers that are not in the list to the sum. It leaves out the
-- GONE_MOST peers that have reported last.
local function fold_gone()
	local is_known, gone = {}, {}
	for _, member in ipairs(stay) do
		is_known[member] = true
	end
	local fields = call('HSCAN', REPORTS, 0, 'MATCH', 'r:*', 'COUNT', 1000)[2]
	for k = 1, #fields, 2 do
		local peer = sub(fields[k], 3)
		if not is_known[peer] then
			insert(gone, {peer, tonumber(string.match(fields[k + 1], '^%d+')) or 0})
		end
	end
	table.sort(gone, function(a, b)
		return a[2] < b[2]
	end)
	local peers = {}
	for k = 1, #gone - GONE_MOST do
		peers[k] = gone[k][1]
	end
	if peers[1] then
		fold(peers)
	end
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
if ARGV[1] == 'out' then
	fold({ARGV[2]})
elseif enters and is_new then
	fold_gone()
end

local answer = {'OK', digits(now()), is_new and 1 or 0}
local records = stay[1] and call('HMGET', RECORDS, unpack(stay)) or {}
for k, member in ipairs(stay) do
	insert(answer, member)
	insert(answer, digits(ends[member]))
	insert(answer, records[k] or '')
end
return answer

-- reports: returns the numbers that the peers have reported. The script only reads.
--
-- uses: base clock digits sums
--
-- KEYS      o O R
-- ARGV      1 'r': reports, 't': numbers of topics
-- returns   {'OK', the counters of the peers that have left, now (us), then for each peer: its
--           name, end (us) as in member.lua, record, text or ''}. If the time of all peers is over,
--           no new peer has come, and the old peers are returned. Without peers only {'OK'}
-- cost      O(N) peers and bytes
local kind = ARGV[1]
local members = call('ZRANGE', MEMBERS, 0, -1, 'WITHSCORES')
local ends, live, over = {}, {}, {}
for k = 1, #members, 2 do
	ends[members[k]] = members[k + 1]
	insert(tonumber(members[k + 1]) > now() and live or over, members[k])
end
local shown = live[1] and live or over
if not shown[1] then
	return {'OK'}
end

local fields = call('HSCAN', REPORTS, 0, 'MATCH', kind .. '*', 'COUNT', 1000)[2]
local texts, left = {}, {}
for _, peer in ipairs(shown) do
	texts[peer] = ''
end
for k = 1, #fields, 2 do
	local peer = string.match(fields[k], ':(.*)$') or ''
	if texts[peer] then
		texts[peer] = fields[k + 1]
	else
		insert(left, fields[k + 1])
	end
end
local answer = {'OK', sum_of(kind, left), digits(now())}
local records = call('HMGET', RECORDS, unpack(shown))
for k, peer in ipairs(shown) do
	insert(answer, peer)
	insert(answer, digits(tonumber(ends[peer])))
	insert(answer, records[k] or '')
	insert(answer, texts[peer])
end
return answer

-- reports: returns the numbers that the peers have told. The script only reads.
--
-- uses: base clock digits sums
--
-- KEYS      o O R
-- ARGV      1 'r': reports, 't': numbers of topics
-- returns   {'OK', the counters of the peers that have left, then for each peer: its name, end (us)
--           as in member.lua, record, text or ''}. Without peers only {'OK'}
-- cost      O(N) peers and bytes
local kind = ARGV[1]
local members = call('ZRANGE', MEMBERS, 0, -1, 'WITHSCORES')
local ends, live = {}, {}
for k = 1, #members, 2 do
	if tonumber(members[k + 1]) > now() then
		ends[members[k]] = members[k + 1]
		insert(live, members[k])
	end
end
if not live[1] then
	return {'OK'}
end

local fields = call('HSCAN', REPORTS, 0, 'MATCH', kind .. '*', 'COUNT', 1000)[2]
local texts, left = {}, {}
for k = 1, #fields, 2 do
	local peer = string.match(fields[k], ':(.*)$') or ''
	if ends[peer] then
		texts[peer] = fields[k + 1]
	else
		insert(left, fields[k + 1])
	end
end
local answer = {'OK', sum_of(kind, left)}
local records = call('HMGET', RECORDS, unpack(live))
for k, peer in ipairs(live) do
	insert(answer, peer)
	insert(answer, digits(tonumber(ends[peer])))
	insert(answer, records[k] or '')
	insert(answer, texts[peer] or '')
end
return answer

-- await: notes a consumer of many topics that waits, in one shard.
--
-- uses: queue
--
-- KEYS      m t n q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC
-- ARGV      1 ''   2 the consumer, NAME/NUMBER/, or ''
--           3.. what its topics begin with: a push into such a topic calls it as take.lua says,
--           if no consumer of this topic alone waits
-- returns   {'OK'}
--           {'TYPE', key, its type, the right one}: another program has made this key
-- cost      O(log N); 3 us of the server
for k = 3, ARGV[2] ~= '' and #ARGV or 0 do
	register(ARGV[2] .. ARGV[k])
end
return wrong_type() or {'OK'}

-- await: notes, in one shard, a consumer that waits for messages of many topics.
--
-- uses: queue
--
-- KEYS      m t n q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC qc:TOPIC
-- ARGV      1 ''   2 the consumer, NAME/NUMBER/, or '': no consumer
--           3.. the first bytes of its topics. A push into such a topic calls the consumer as
--           take.lua says, if too few consumers wait for this topic alone
-- returns   {'OK'}
--           {'TYPE', key, its type, the right type}: another program has made this key
-- cost      O(log N); 3 us of server time
for k = 3, ARGV[2] ~= '' and #ARGV or 0 do
	register(ARGV[2] .. ARGV[k])
end
return wrong_type() or {'OK'}

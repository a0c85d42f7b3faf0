-- status: returns the counts of the shard, and describes its owner. The script only reads.
--
-- uses: base clock
--
-- KEYS      l m z i d
-- ARGV      none
-- returns   {pending timers, claimed timers, dead letters, entries in the inbox, score of the next
--           pending timer or false, token of the lease or false, ms left of the lease, holder or
--           false, since, seen, report, number of shards, holder of a process that stands by or
--           false}
-- cost      O(log N)
local claimed = call('ZCOUNT', TIMERS, '-inf', '(0')
local nearest = call('ZRANGEBYSCORE', TIMERS, 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local meta = call('HMGET', META, 'holder', 'since', 'seen', 'report', 'shards', 'standby', 'stood')
local stands = math.abs(now() - (tonumber(meta[7]) or 0)) < 5000000

return {call('ZCARD', TIMERS) - claimed, claimed, call('ZCARD', DEAD), call('ZCARD', INBOX),
	nearest[2] or false, call('GET', LEASE), call('PTTL', LEASE), meta[1], meta[2], meta[3],
	meta[4], meta[5], stands and meta[6]}

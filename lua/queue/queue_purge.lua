-- queue_purge: deletes the messages of queues. The settings of their topics stay.
--
-- uses: base
--
-- KEYS      l ... q:TOPIC qt:TOPIC ql:TOPIC qm:TOPIC
-- ARGV      1 the owner's token
-- returns   {'OK'}; or {'FENCED'}
-- cost      O(1) for each topic; the memory is freed in the background
if call('GET', LEASE) ~= ARGV[1] then
	return {'FENCED'}
end
for k = 2, #KEYS do
	call('UNLINK', KEYS[k])
end
return {'OK'}

# Replies that no Redis server sends.
# shellcheck shell=bash disable=SC2154,SC2034

# A daemon tries again, with pauses that grow, and does not fill its log.
test_redis_replies_of_a_wrong_shape() {
	local began count
	on_redis
	python3 "$here/wrong_replies.py" "$redis_port" 2>proxy.log &
	standby=$! # tidy ends it
	await test -s proxy.port
	DURAWHEEL_STORE=redis://127.0.0.1:$(<proxy.port)
	expect 0 durawheel add --topic t --in 1h --id a
	touch broken
	expect 6 durawheel list
	says "^durawheel: $DURAWHEEL_STORE/0: the reply to .* has a wrong shape: check whether"
	is_counted err 1
	rm broken
	start
	count=$(<proxy.count)
	began=$SECONDS
	touch broken
	await grep -q 'the reply to .* has a wrong shape' log
	sleep 5
	count=$(($(<proxy.count) - count))
	[ "$count" -le $((15 + SECONDS - began)) ] || fail "$count connections"
	[ "$(grep -c ': connected$' log)" -le 3 ] || fail "the log is full: $(cat log)"
	rm broken
	expect 0 durawheel add --topic t --in 0 --id b
	await grep -q '"id":"b"' fired
	await eval "grep -e 'wrong shape' -e ': connected$' log | tail -n 1 | grep -q connected"
	stop_owner
	kill "$standby"
}

# Replies that no Redis server sends, and changes between two commands.
# shellcheck shell=bash disable=SC2154,SC2034

# through_proxy: the store is reached by the proxy, which tidy ends; $direct is the server itself.
through_proxy() {
	on_redis
	direct=$DURAWHEEL_STORE
	python3 "$here/wrong_replies.py" "$redis_port" 2>proxy.log &
	standby=$!
	await test -s proxy.port
	DURAWHEEL_STORE=redis://127.0.0.1:$(<proxy.port)
}

# ends_before N ID: its timer, the only one, is cancelled before it is read for the Nth time.
ends_before() {
	local key
	rm -f reads
	key=$(redis --scan --pattern '*:h')
	cat >meanwhile <<-END
		echo >>reads
		[ "\$(wc -l <reads)" = $1 ] || exit
		echo $2 >ids
		until [ "\$(redis-cli -s socket HEXISTS $key $2)" = 0 ]; do
			sleep 0.02
		done
	END
}

# asks COMMAND ID: by the proxy, about a timer that ends meanwhile.
asks() {
	local code=0
	durawheel "$1" --store "$proxied" "$2" >out 2>err || code=$?
	[ $code != 6 ] || not_tested 'the machine is too slow: the store was given up'
	[ $code = 3 ] || fail "$1 $2 exits $code: $(cat out err)"
}

# An id has a kept end, and then its timer ends while the command asks: before the question for the
# timer, or before the one why it waits.
test_redis_timer_that_ends_between_two_questions() {
	local ask proxied
	through_proxy
	proxied=$DURAWHEEL_STORE
	DURAWHEEL_STORE=$direct
	mkfifo ids
	durawheel cancel - <ids >cancelled &
	exec 9>ids
	for ask in 'why 1' 'why 2' 'show 1'; do
		expect 0 durawheel add --topic t --id a --in 0 --keep 1d
		expect 0 durawheel run --until-idle --exec true
		expect 0 durawheel add --topic t --id a --in 1h --keep 1d
		ends_before "${ask#* }" a
		asks "${ask% *}" a
		grep -q '^cancelled ' out || fail "$ask: $(cat out)"
		lacks '^(done|due) ' out
		expect 0 durawheel add --topic t --id new --in 1h
		ends_before "${ask#* }" new
		asks "${ask% *}" new
		says '^durawheel: new: no such timer: '
		is_counted out 0
	done
	exec 9>&-
	kill "$standby"
}

# A daemon tries again, with pauses that grow, and does not fill its log.
test_redis_replies_of_a_wrong_shape() {
	local began count
	through_proxy
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

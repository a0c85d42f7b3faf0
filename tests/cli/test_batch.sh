# run --batch: one command for many timers of a topic.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# add_due COUNT: so many timers of topic t, due already, in the order of their ids.
add_due() {
	local i
	for ((i = 1; i <= $1; i++)); do
		printf '{"id":"a%04d","topic":"t","at":"2020-01-01T00:00:00Z","data":"é"}\n' "$i"
	done >timers
	expect 0 durawheel import timers
}

test_batch_runs_one_command_for_many_timers() {
	add_due 200
	DW_ID=outer DW_COUNT=7 expect 0 durawheel run --topic t --batch 50 --until-idle --exec \
		'cat >got.$$; echo "$DW_TOPIC $DW_COUNT ${DW_ID-} $(wc -l <got.$$)" >>counts'
	[ "$(sort -u counts)" = 't 50  50' ] || fail "the commands got $(cat counts)"
	is_counted counts 4
	is_counted out 200
	cat got.* | sort | sed 's/}$/,"exit":0}/' >wanted
	sort out | diff wanted - || fail "the lines differ from stdin"
	head -n 1 wanted | grep -q '^{"id":"a0001","topic":"t",.*"attempt":1,"data":"é","exit":0}$'
	has_count pending 0
}

test_batch_is_in_order() {
	add_due 30
	expect 0 durawheel run --topic t --batch 20 --jobs 1 --until-idle --exec 'cat >>got'
	grep -o 'a[0-9]\{4\}' got | sort -c || fail "not in order"
	is_counted got 30
}

test_batch_that_fails_is_retried_as_a_whole() {
	add_due 5
	expect 0 durawheel run --topic t --batch 3 --jobs 1 --until-idle --exec \
		'cat >>got; [ -e failed ] || { echo >failed; exit 7; }'
	is_counted got 8
	is_counted out 8
	[ "$(grep -c '"attempt":1,.*"exit":7}$' out)" = 3 ]
	[ "$(grep -c '"attempt":1,.*"exit":0}$' out)" = 2 ]
	[ "$(grep -c '"attempt":2,.*"exit":0}$' out)" = 3 ]
	says '^durawheel: a0001 and 2 more: the command exits with 7 (attempt 1)$'
}

test_batch_waits_for_more() {
	expect 0 durawheel add --topic t --id a --in 0s
	expect 0 durawheel add --topic t --id b --in 300ms
	expect 0 durawheel run --topic t --batch 2 --wait 10s --until-idle --exec \
		'cat >>got; echo >>runs'
	is_counted got 2
	is_counted runs 1
}

test_batch_has_one_topic() {
	expect 0 durawheel add --topic t --id a --in 0s
	expect 0 durawheel add --topic u --id b --in 0s
	expect 0 durawheel add --topic v --id c --in 0s
	expect 0 durawheel run --topic t --topic u --batch 9 --until-idle --exec \
		'echo "$DW_TOPIC $DW_COUNT" >>counts'
	[ "$(sort counts)" = 't 1
u 1' ]
	has_count pending 1
}

# Without --topic each topic has batches of its own, also one that comes later.
test_batch_of_every_topic() {
	add_due 100
	for i in 1 2 3; do
		expect 0 durawheel add --topic u --id "u$i" --in 0s
	done
	start --batch 50 --exec 'echo "$DW_TOPIC $DW_COUNT" >>counts'
	await has_count pending 0
	expect 0 durawheel add --topic later --id l --in 0s
	await grep -q later counts
	stop_owner
	! grep -q 'no handler' log
	[ "$(awk '$2 > 50 { exit } { n[$1] += $2 } END { print n["t"], n["u"], n["later"] }' \
		counts)" = '100 3 1' ]
}

test_batch_without_command_writes_lines() {
	add_due 100
	expect 0 durawheel run --topic t --batch 30 --until-idle
	is_counted out 100
	grep -o 'a[0-9]\{4\}' out | sort -c || fail "not in order"
	has_count pending 0
}

# More timers than can be held at once: the commands wait for each other.
test_batch_holds_no_more_than_it_may() {
	add_due 3000
	expect 0 durawheel run --topic t --batch 500 --until-idle --exec \
		'sleep 0.1; wc -l >>counts'
	[ "$(awk '{ sum += $1 } END { print sum }' counts)" = 3000 ]
	! grep -q 'are held' err || fail "too many were held"
	has_count pending 0
}

test_batch_is_delivered_again_after_a_kill() {
	add_due 4
	start --topic t --batch 4 --exec 'cat >>got; until [ -e go ]; do sleep 0.02; done'
	await is_counted got 4
	kill -9 "$owner"
	wait "$owner" || true
	echo >go
	await durawheel run --topic t --batch 4 --until-idle --exec 'cat >>got'
	[ "$(grep -c '"attempt":1,' got)" = 4 ]
	[ "$(grep -c '"attempt":2,' got)" = 4 ]
}

test_batch_options_are_checked() {
	empty_store
	expect 2 durawheel run --topic t --wait 1s
	says 'run: --wait is for --batch N'
	expect 2 durawheel run --topic t --batch 1001
	says '--batch 1001: write at most 1000'
	expect 2 durawheel run --topic t --batch 5 --wait 11s
	says '--wait 11s: write at most 10s'
	for bad in 0 -1 x '' 99999999999999999999; do
		expect 2 durawheel run --topic t --batch "$bad"
		says '--batch'
	done
}

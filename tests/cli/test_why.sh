# What run --exec keeps of a command that fails: its status, and its last line on stderr.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# is_kept STORE: one timer is retried, another one given up; both say why, also after a restart.
is_kept() {
	expect 0 durawheel add --topic mail --id again --in 0s
	expect 0 durawheel add --topic mail --id given-up --in 0s
	durawheel run --topic mail --exec 'echo begin >&2
		[ $DW_ID = again ] && echo "smtp: no answer" >&2 && exit 3
		printf "no such user" >&2; exit 100' >run-out 2>run-err &
	runner=$!
	await grep -q '"id":"again",.*"exit":3' run-out
	await grep -q '"id":"given-up",.*"exit":100' run-out
	await grep -q 'durawheel: given-up is dead: GAVE_UP: exit status 100: no such user$' run-err
	kill "$runner"
	wait "$runner"
	expect 0 durawheel show again
	grep -qx 'why  *exit status 3: smtp: no answer' out
	expect 0 durawheel show --json again
	grep -q '"why":"exit status 3: smtp: no answer"' out
	expect 0 durawheel dead list
	grep -q ' given-up .*  exit status 100: no such user$' out
	expect 0 durawheel dead list --json
	grep -q '"why":"exit status 100: no such user"' out
	# The text without a newline may stand before any other line.
	[ "$(grep -c 'begin$' run-err)" -ge 2 ]
	grep -q 'smtp: no answer$' run-err
	expect 0 durawheel run --until-idle --topic mail --exec true
	expect 3 durawheel show again
	expect 0 durawheel dead requeue given-up
	expect 0 durawheel show given-up
	! grep -q '^why' out || fail "a requeued timer says why it failed"
}

test_why_is_kept_with_the_retry_and_the_letter() {
	is_kept
}

test_why_is_kept_in_redis() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	redis_start "$PWD"
	export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
	is_kept
	redis_stop
}

# has_why: the failure of timer a is stored.
has_why() {
	durawheel show a >out && grep -q '^why' out
}

# says_first COMMAND TEXT [OPTION...]: the text of its first attempt, which is stored when it is
# tried again.
says_first() {
	expect 0 durawheel topic set t --backoff 1h
	expect 0 durawheel add --topic t --id a --in 0s
	durawheel run "${@:3}" --exec "$1" >run-out 2>run-err &
	runner=$!
	await grep -q '"exit"' run-out
	await has_why
	kill -9 "$runner"
	wait "$runner" 2>killed || true
	grep -qx "why  *$2" out || fail "$1: $(cat out)"
	expect 0 durawheel cancel a
}

test_why_names_a_signal_and_a_time_limit() {
	says_first 'echo dying >&2; kill -9 $$' 'signal 9: dying'
	says_first 'echo waiting >&2; sleep 1000' 'longer than --timeout: waiting' \
		--timeout 3s
	says_first 'exit 7' 'exit status 7'
	says_first 'echo kept >&2; printf "  \n\n" >&2; exit 7' 'exit status 7: kept'
	says_first 'printf "10%%\r20%%\r" >&2; exit 7' 'exit status 7: 20%'
	says_first 'printf "a\033[1mb\377" >&2; exit 7' 'exit status 7: a \[1mb?'
}

test_why_of_a_batch_is_of_all_its_timers() {
	for id in a b; do
		expect 0 durawheel add --topic t --id $id --in 0s
	done
	durawheel run --topic t --batch 10 --exec 'echo both >&2; exit 100' >run-out 2>run-err &
	runner=$!
	await grep -q 'durawheel: b is dead: GAVE_UP: exit status 100: both$' run-err
	await grep -q 'durawheel: a is dead: GAVE_UP: exit status 100: both$' run-err
	kill "$runner"
	wait "$runner"
	expect 0 durawheel dead list
	[ "$(grep -c 'exit status 100: both$' out)" = 2 ]
}

test_why_all_of_stderr_is_passed_on() {
	expect 0 durawheel add --topic t --id a --in 0s
	expect 0 durawheel run --until-idle --exec 'seq 200000 >&2'
	grep -v ' durawheel: ' err >numbers
	seq 200000 | cmp - numbers
}

test_why_stdout_and_stderr_stay_in_order() {
	expect 0 durawheel add --topic t --id a --in 0s
	expect 0 durawheel run --until-idle --exec \
		'for i in 1 3 5 7; do echo $i; echo $((i + 1)) >&2; done'
	[ "$(grep -v ' durawheel: ' err | tr '\n' ' ')" = '1 2 3 4 5 6 7 8 ' ]
}

test_why_an_orphan_still_writes_to_stderr() {
	expect 0 durawheel add --topic t --id a --in 0s
	expect 0 durawheel run --until-idle --exec \
		'(until [ -e go ]; do sleep 0.02; done; echo late >&2; touch wrote) &
		echo early >&2'
	grep -qx early err
	touch go
	await test -e wrote
	await grep -qx late err
}

test_why_a_closed_stderr_ends_no_run() {
	expect 0 durawheel add --topic t --id a --in 0s
	durawheel run --until-idle --exec '[ $DW_ATTEMPT = 2 ] || { echo no >&2; exit 1; }' \
		2>&- >run-out
	tail -n 1 run-out | grep -q '"attempt":2,.*"exit":0'
}

# run: what is fired, in which order, and what happens when stdout does not take it.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

test_run_fires_in_order_until_idle() {
	expect 0 durawheel add --topic t --id b --at 2020-01-01T00:00:01Z --data hi
	expect 0 durawheel add --topic u --id c --in 300ms
	expect 0 durawheel add --topic t --id a --at 2020-01-01T00:00:00Z
	expect 0 durawheel run --until-idle
	[ "$(ids_of out | tr '\n' ' ')" = 'a b c ' ]
	pattern='{"id":"b","topic":"t","due":1577836801000000,"fired":[0-9]*,"attempt":1,'
	grep -qx "$pattern"'"data":"hi"}' out
	due=$(sed -n 's/.*"c".*"due":\([0-9]*\).*/\1/p' out)
	fired=$(sed -n 's/.*"c".*"fired":\([0-9]*\).*/\1/p' out)
	[ "$fired" -ge "$due" ] || fail 'early'
	await has_count pending 0
	has_count claimed 0
	expect 0 durawheel run --until-idle
	is_counted out 0
}

test_run_prints_data_as_text_or_base64() {
	expect 0 durawheel add --topic t --id a --at 2020-01-01T00:00:00Z --data $'"\n\t\xc3\xa4\\'
	printf '\377' >data
	expect 0 durawheel add --topic t --id b --at 2020-01-01T00:00:01Z --data-file data
	expect 0 durawheel run --until-idle
	head -n 1 out | grep -qF '"data":"\"\n\tä\\"}'
	tail -n 1 out | grep -qF '"data_base64":"/w=="}'
}

test_run_takes_only_its_topics() {
	expect 0 durawheel add --topic a --id 1 --in 0s
	expect 0 durawheel add --topic b --id 2 --in 0s
	expect 0 durawheel add --topic c --id 3 --in 0s
	expect 0 durawheel run --topic a --topic b --until-idle
	[ "$(ids_of out | sort | tr '\n' ' ')" = '1 2 ' ]
	grep -q ' durawheel: no handler for topic' err
	expect 0 durawheel list --json
	[ "$(ids_of out)" = 3 ]
	grep -q '"attempt":0' out
	expect 0 durawheel run --topic '*' --until-idle
	[ "$(ids_of out)" = 3 ]
	expect 2 durawheel run --topic ''
	says '--topic'
}

test_run_notices_what_is_added_and_cancelled() {
	start
	expect 0 durawheel add --topic t --id a --in 0s
	await is_counted fired 1
	for ((delay = 2; ; delay *= 2)); do
		: >fired
		began=$SECONDS
		expect 0 durawheel add --topic t --id cancelled --in "${delay}s"
		expect 0 durawheel add --topic t --id replaced --in "${delay}s"
		expect 0 durawheel add --topic t --id replaced --in 1h
		durawheel cancel cancelled || true
		[ $((SECONDS - began + 1)) -ge $delay ] || break # else it was perhaps too late
	done
	expect 3 durawheel show cancelled
	expect 0 durawheel add --topic t --id last --in "${delay}s"
	await is_counted fired 1
	[ "$(ids_of fired)" = last ]
	stop_owner
}

test_run_stops_cleanly() {
	expect 0 durawheel add --topic t --id a --in 1h
	for signal in TERM INT; do
		rm -f log
		# A shell starts what runs in the background with SIGINT ignored.
		env --default-signal=INT durawheel run >fired 2>log &
		owner=$!
		await is_started
		stop_owner $signal
		has_count pending 1
	done
	is_counted fired 0
}

test_run_is_alone() {
	start
	expect 6 durawheel run
	says "^durawheel: timers.db is owned by .*, pid $owner, "
	says '; stop that first, or wait with run --standby$'
	expect 0 durawheel add --topic t --in 0s
	await is_counted fired 1
	stop_owner
}

test_run_waits_until_idle_for_what_is_still_to_come() {
	expect 0 durawheel add --topic t --id a --in 1h
	durawheel run --until-idle >fired 2>log &
	owner=$!
	await is_started
	expect 0 durawheel add --topic t --id b --in 2s
	expect 0 durawheel cancel a
	await is_counted fired 1
	ended 0
}

commands_done() {
	redis INFO stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p'
}

# An owner that serves some topics does not ask again and again whether they have a timer left.
test_run_of_a_topic_waits_without_asking() {
	local before
	on_redis
	expect 0 durawheel add --topic t --id a --in 1h
	expect 0 durawheel add --topic other --in 1h
	durawheel run --topic t --until-idle >fired 2>log &
	owner=$!
	await is_started
	sleep 1
	before=$(commands_done)
	sleep 2
	[ $(($(commands_done) - before)) -lt 5000 ]
	expect 0 durawheel add --topic t --id b --in 0
	await is_counted fired 1
	expect 0 durawheel cancel a
	ended 0
}

# open_pipe ARGUMENT...: an owner that writes to a pipe whose reader, descriptor 3, does not read.
open_pipe() {
	mkfifo pipe
	durawheel run "$@" >pipe 2>log &
	owner=$!
	exec 3<pipe
}

# is_held N: the owner has claimed that many and has not settled them.
is_held() {
	[ "$(durawheel stats --json | sed 's/.*"claimed":\([0-9]*\).*/\1/')" -ge "$1" ]
}

# is_still: nothing changes for a while.
is_still() {
	durawheel stats --json >before
	sleep 0.2
	durawheel stats --json | cmp - before
}

test_run_holds_when_a_pipe_is_full() {
	many 5000 "$(text 200)" | durawheel import
	open_pipe
	await is_held 512
	await is_still
	kill -0 "$owner"
	timeout "$patience" head -n 5000 <&3 >got
	ids_of got | sort -c
	[ "$(ids_of got | sort -u | wc -l)" = 5000 ]
	! grep -qv '"attempt":1,' got || fail 'a second attempt'
	! grep -q 'are held' log || fail 'over the limit of holds'
	await has_count claimed 0
	has_count pending 0
	stop_owner
}

test_run_does_not_make_a_shared_pipe_non_blocking() {
	open_pipe
	await is_started
	flags=$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$owner/fdinfo/1")
	[ $((8#$flags & 8#4000)) = 0 ]
	stop_owner
}

test_run_stopped_at_a_full_pipe_repeats_nothing() {
	many 3000 "$(text 200)" | durawheel import
	open_pipe
	await is_held 512
	stop_owner
	cat <&3 >got
	exec 3<&-
	expect 0 durawheel run --until-idle
	cat out >>got
	is_counted got 3000
	[ "$(ids_of got | sort -u | wc -l)" = 3000 ]
}

test_run_writes_large_lines_whole() {
	for id in 1 2 3 4 5; do
		text 300000 >data
		expect 0 durawheel add --topic t --id $id --at 2020-01-01T00:00:0${id}Z \
			--data-file data
	done
	open_pipe --until-idle
	await is_held 1
	timeout "$patience" cat <&3 >got
	ended 0
	is_counted got 5
	[ "$(ids_of got | tr '\n' ' ')" = '1 2 3 4 5 ' ]
	[ "$(tr -cd x <got | wc -c)" = 1500000 ]
}

test_run_says_when_it_leaves_a_line_cut() {
	text 300000 >data
	expect 0 durawheel add --topic t --id a --in 0s --data-file data
	open_pipe
	timeout "$patience" head -c 1 <&3 >first # it has begun to write, and the pipe is full again
	kill -TERM "$owner"
	ended 1
	grep -q 'a line on stdout is cut' log
	exec 3<&-
	expect 0 durawheel run --until-idle
	is_counted out 1
}

test_run_stops_when_its_reader_is_gone() {
	open_pipe
	await is_started
	exec 3<&-
	ended 1
	grep -q ' durawheel: cannot write to stdout: Broken pipe' log
}

test_run_settles_nothing_that_it_could_not_write() {
	many 600 | durawheel import
	for _ in 1 2 3; do
		code=0
		durawheel run >/dev/full 2>err || code=$?
		[ $code = 1 ] || fail "run exits $code"
		grep -q ' durawheel: cannot write to stdout: No space left' err
	done
	code=0
	durawheel run >&- 2>err || code=$?
	[ $code = 1 ]
	grep -q ' durawheel: cannot write to stdout' err
	has_count pending 600
	expect 0 durawheel run --until-idle
	is_counted out 600
	ids_of out | sort -c
}

test_run_killed_loses_nothing() {
	many 20000 | durawheel import
	for lines in 1000 5000 12000; do
		rm -f log
		durawheel run >>fired 2>log &
		owner=$!
		await has_lines $lines
		kill_owner
	done
	expect 0 durawheel run --until-idle
	cat out >>fired
	[ "$(ids_of fired | sort -u | wc -l)" = 20000 ]
	! ids_of fired | sort | uniq -c | grep -q '^ *[5-9] ' || fail 'more often than killed'
}

# has_lines N: at least.
has_lines() {
	[ "$(wc -l <fired)" -ge "$1" ]
}

test_run_refuses_to_cancel_what_it_holds() {
	text 300000 >data
	expect 0 durawheel add --topic t --id a --in 0s --data-file data
	open_pipe
	await is_held 1
	expect 5 durawheel cancel a
	says '^durawheel: a: too late'
	timeout "$patience" head -n 1 <&3 >got
	is_counted got 1
	await has_count claimed 0
	stop_owner
}

# begin_standby: a second owner to be, its lines in the file taken, its messages in log2, its pid in
# $standby.
begin_standby() {
	durawheel run --standby "$@" >>taken 2>log2 &
	standby=$!
	await grep -q ' durawheel: standing by$' log2
}

end_standby() {
	owner=$standby
	stop_owner
}

test_run_standby_takes_over_from_the_dead() {
	start
	begin_standby
	expect 0 durawheel add --topic t --id a --in 0
	await is_counted fired 1
	expect 0 durawheel add --topic t --id b --in 1h
	is_counted taken 0
	kill_owner
	await grep -q 'running, 1 timer loaded' log2
	expect 0 durawheel add --topic t --id b --in 1s
	await is_counted taken 1
	[ "$(ids_of taken)" = b ]
	expect 6 durawheel run
	end_standby
}

test_run_standby_takes_over_from_one_that_stops() {
	start --exec 'echo begun >>begun; until [ -e go ]; do sleep 0.02; done'
	expect 0 durawheel add --topic t --id a --in 0
	await is_counted begun 1
	begin_standby --exec 'echo $DW_ATTEMPT >attempt'
	kill -TERM "$owner"
	touch go
	ended 0
	await grep -q 'running, 0 timers loaded' log2
	[ ! -e attempt ]
	end_standby
}

test_run_standby_stops_while_it_waits() {
	start
	begin_standby
	first=$owner
	end_standby
	is_counted taken 0
	owner=$first
	stop_owner
}

test_run_standby_owns_at_once_what_nobody_owns() {
	expect 0 durawheel add --topic t --id a --in 0
	expect 0 durawheel run --standby --until-idle
	[ "$(ids_of out)" = a ]
}

test_run_standby_is_not_idle_while_it_waits() {
	start
	begin_standby --until-idle
	expect 0 durawheel add --topic t --id a --in 0
	await is_counted fired 1
	! is_ended "$standby" || fail 'it has ended'
	stop_owner
	owner=$standby
	ended 0
	is_counted taken 0
}

# switches: how often a thread of the owner went to sleep so far, and so how often it was woken.
switches() {
	cat "/proc/$owner/task"/*/status | awk '/^voluntary/ { sum += $2 } END { print sum }'
}

# ticks: of a CPU that the owner has used so far; there are $(getconf CLK_TCK) a second.
ticks() {
	sed 's/.*) //' "/proc/$owner/stat" | awk '{ print $12 + $13 }'
}

# Counted over the time it took, so that a busy machine changes nothing: twice a second, and 10
# for what belongs to a start; a hundredth of a CPU, and 2 ticks.
test_run_sleeps_while_nothing_is_due() {
	rate=2
	expect 0 durawheel add --topic t --id later --in 1h
	start
	for i in 1 2 3; do
		durawheel add --topic t --id "client-$i" --in 1h >out
	done
	# ThreadSanitizer has a thread that looks ten times a second.
	! grep -q libtsan "/proc/$owner/maps" || rate=13
	began=${EPOCHREALTIME/./}
	woken=$(switches)
	used=$(ticks)
	sleep 5
	woken=$(($(switches) - woken))
	used=$(($(ticks) - used))
	span=$((${EPOCHREALTIME/./} - began))
	echo "$woken switches, $used ticks in $span us"
	[ $((woken * 1000000)) -le $((rate * span + 10000000)) ]
	[ $((used * 1000000 * 100)) -le $(((span + 2000000) * $(getconf CLK_TCK))) ]
	stop_owner
}

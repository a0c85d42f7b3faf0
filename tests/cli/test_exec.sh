# run --exec: what a command is given, how many run, how they end.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# due ID [ARGUMENT...]: a timer that is due, with an id that sorts as it was added.
due() {
	local id=$1
	shift
	expect 0 durawheel add --topic t --id "$id" --in 0s "$@"
}

# is_running N: that many commands that wait for the file go have begun. Their ids are in begun.
is_running() {
	[ "$(wc -l <begun)" = "$1" ]
}

# A command that says that it runs and waits.
waiting='echo $DW_ID >>begun; until [ -e go ]; do sleep 0.02; done'

test_exec_gives_data_and_environment() {
	head -c 1048576 /dev/urandom >data
	expect 0 durawheel add --topic 'a topic' --id 'an "id" $x' --data-file data \
		--at 2020-01-01T00:00:00Z
	DW_ID=outer DW_IDLE=kept expect 0 durawheel run --until-idle --exec \
		'cat >got; env | grep -E "^DW_(ATTEMPT|DUE|ID|IDLE|TOPIC)=" | sort >variables'
	cmp data got
	cat >wanted <<-'END'
		DW_ATTEMPT=1
		DW_DUE=1577836800000000
		DW_ID=an "id" $x
		DW_IDLE=kept
		DW_TOPIC=a topic
	END
	cmp wanted variables
	await has_count claimed 0
	has_count pending 0
}

test_exec_writes_one_line_a_firing() {
	due a --data hi
	expect 0 durawheel run --until-idle --exec 'exit $((DW_ATTEMPT == 1))'
	is_counted out 2
	pattern='{"id":"a","topic":"t","due":[0-9]*,"fired":[0-9]*,"attempt":1,'
	head -n 1 out | grep -qx "$pattern"'"data":"hi","exit":1}'
	tail -n 1 out | grep -q '"attempt":2,"data":"hi","exit":0}$'
	grep -q ' warn durawheel: a: the command exits with 1 (attempt 1)$' err
	expect 0 durawheel add --topic t --id b --in 0s
	expect 0 durawheel run --until-idle --exec '[ $DW_ATTEMPT = 2 ] || kill -9 $$'
	head -n 1 out | grep -q '"exit":137}$'
}

test_exec_output_goes_to_stderr() {
	due a
	expect 0 durawheel run --until-idle --exec 'printf hi; echo there >&2'
	is_counted out 1
	grep -q '^{"id":"a",.*"exit":0}$' out
	grep -qx hithere err || fail "stderr has $(cat err)"
	due a
	expect 0 durawheel run --until-idle --exec-output stderr --exec 'printf hi'
	is_counted out 1
}

# no_proc: the words before a command that finds nothing in /proc.
no_proc() {
	no_proc=(unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
	[ "$(id -u)" = 0 ] || no_proc=(unshare --map-root-user "${no_proc[@]:1}")
	"${no_proc[@]}" true ||
		not_tested 'no namespace to mount in: run as root, or permit user namespaces'
}

# No command can start there, so its timers wait: a retry would be spent for nothing.
test_exec_without_proc_says_so() {
	no_proc
	due a
	expect 0 durawheel topic set q --queue
	expect 0 durawheel push --topic q --id m
	printf '[topic t]\nexec = true\n' >run.conf
	for words in 'run --exec true' 'run --config run.conf' 'work --topic q --exec true'; do
		# shellcheck disable=SC2086
		expect 1 "${no_proc[@]}" durawheel $words
		says 'without /proc/self/exe: No such file or directory: mount proc on /proc$'
	done
	expect 0 "${no_proc[@]}" durawheel take --topic q # all else works
	grep -q '"id":"m",.*"attempt":1' out || fail "$(cat out)"
	expect 0 durawheel run --until-idle --exec true
	grep -q '"id":"a",.*"attempt":1,.*"exit":0}$' out || fail "$(cat out)"
}

# The reader of stderr goes away, as when the service that keeps the logs starts again.
test_exec_ends_the_same_when_nobody_reads_stderr() {
	local reader
	due a
	mkfifo log.pipe
	head -n 1 <log.pipe >first &
	reader=$!
	durawheel run --until-idle --exec 'echo one >&2; until [ -e gone ]; do sleep 0.02; done
		echo two >&2; sleep 0.1; echo three >&2; seq 100000 >&2; echo over >ran' \
		>out 2>log.pipe &
	owner=$!
	wait $reader
	touch gone
	wait "$owner"
	owner=
	grep -qx over ran
	grep -q '^{"id":"a",.*"exit":0}$' out || fail "$(cat out)"
	is_counted out 1
}

test_exec_output_goes_to_stdout_when_asked_to() {
	due a
	expect 0 durawheel run --until-idle --exec-output stdout --exec 'echo hi; echo there >&2'
	[ "$(head -n 1 out)" = hi ]
	tail -n 1 out | grep -q '^{"id":"a",.*"exit":0}$'
	is_counted out 2
	grep -qx there err
}

test_exec_takes_commands_that_do_not_read() {
	head -c 1000000 /dev/zero >data
	due a --data-file data
	due b
	expect 0 durawheel run --until-idle --exec 'exec <&-; true'
	[ "$(grep -c '"attempt":1,.*"exit":0}$' out)" = 2 ]
	due a --data-file data
	expect 0 durawheel run --until-idle --exec 'head -c 1 >/dev/null'
	[ "$(grep -c '"attempt":1,.*"exit":0}$' out)" = 1 ]
	due a --data-file data
	due b
	expect 0 durawheel run --until-idle --exec '[ "$(wc -c)" -lt 1000001 ]'
	[ "$(grep -c '"attempt":1,.*"exit":0}$' out)" = 2 ]
}

# signals_of NAME: what /proc/self/status says of INT, QUIT, PIPE, TERM, CHLD and XFSZ.
signals_of() {
	echo $((16#$(sed -n "s/^$1:[[:space:]]*//p" status) & 16#1015006))
}

test_exec_resets_signals() {
	due a
	(
		trap '' PIPE CHLD INT QUIT
		exec durawheel run --until-idle --exec 'cat /proc/self/status >status' >out 2>err
	)
	[ "$(signals_of SigBlk)" = 0 ]
	[ "$(signals_of SigIgn)" = 0 ]
}

test_exec_passes_none_of_our_descriptors() {
	due a
	expect 0 durawheel run --until-idle --exec 'ls -l /proc/self/fd >fds'
	! grep -E ' -> .*(timers\.db|anon_inode)' fds || fail 'it has our descriptors'
	[ "$(grep -c ' 0 -> .*memfd' fds)" = 1 ]
	[ "$(grep -c 'memfd' fds)" = 1 ]
}

test_exec_runs_so_many_at_a_time() {
	for id in {0..9}; do
		due "$id"
	done
	: >begun
	start --jobs 3 --exec "mkdir run.\$DW_ID; ls -d run.* | wc -l >>counts; $waiting;
		rmdir run.\$DW_ID"
	await is_running 3
	durawheel stats --json | grep -q '"pending":'
	touch go
	await is_counted fired 10
	[ "$(sort -n counts | tail -n 1)" = 3 ] || fail "$(sort -n counts | tail -n 1) at a time"
	! grep -v '"attempt":1,' fired || fail 'a second attempt'
	stop_owner
}

test_exec_runs_one_at_a_time_in_order() {
	many 40 | durawheel import
	expect 0 durawheel run --jobs 1 --until-idle --exec 'echo $DW_ID >>order'
	is_counted order 40
	sort -c order
}

# More than may be held: none is refused and counted as a retry.
test_exec_keeps_up_with_more_than_it_may_hold() {
	many 1100 | durawheel import # DW_HOLDS_MAX is 1024
	expect 0 durawheel run --jobs 16 --until-idle --exec true
	is_counted out 1100
	[ "$(ids_of out | sort -u | wc -l)" = 1100 ]
	! grep -v '"attempt":1,' out || fail 'a second attempt'
}

# is_ended PID: it has, and is no zombie.
is_ended() {
	[ ! -e "/proc/$1" ]
}

test_exec_ends_a_command_with_its_group() {
	due a
	expect 0 durawheel run --until-idle --timeout 5s --exec \
		'[ -s pid ] || { sleep 1000 & echo $! >pid; sleep 1000; exit 0; }'
	await is_ended "$(cat pid)"
	says '^durawheel: a: the command took longer than --timeout and was ended (attempt 1)$'
	head -n 1 out | grep -q '"attempt":1,.*"exit":124}$'
	tail -n 1 out | grep -q '"attempt":[2-9],.*"exit":0}$'
}

# A command that starts two processes in sessions of their own, one of them a daemon with no parent
# but init, and a third one that ignores SIGTERM. Their pids are in the files child, daemon, deaf.
scatters='setsid sh -c "echo \$\$ >child; exec sleep 1000" &
	(setsid sh -c "echo \$\$ >daemon; exec sleep 1000" &)
	(trap "" TERM; exec setsid sh -c "echo \$\$ >deaf; exec sleep 1000") &
	until [ -s child ] && [ -s daemon ] && [ -s deaf ]; do sleep 0.02; done
	touch begun'

# scattered_have_ended: the three processes of $scatters.
scattered_have_ended() {
	is_ended "$(cat child)" && is_ended "$(cat daemon)" && is_ended "$(cat deaf)"
}

test_exec_ends_what_has_left_the_group() {
	due a
	expect 0 durawheel run --until-idle --timeout 1s --exec \
		"[ ! -e begun ] || exit 0; $scatters; sleep 1000"
	scattered_have_ended || fail 'a process of the command goes on'
	head -n 1 out | grep -q '"attempt":1,.*"exit":124}$'
}

test_exec_killed_takes_its_commands_along() {
	due a
	start --exec "$scatters; sleep 1000"
	await [ -e begun ]
	kill_owner
	await scattered_have_ended
}

test_exec_gives_the_group_its_grace() {
	due a
	expect 0 durawheel run --until-idle --timeout 1s --exec '[ -e tidied ] || {
		(trap "sleep 0.3; echo yes >tidied; exit" TERM; while :; do sleep 0.02; done) &
		wait
	}'
	[ "$(cat tidied)" = yes ]
}

test_exec_kills_what_does_not_end() {
	due a
	expect 0 durawheel run --until-idle --timeout 2s --exec '[ -e deaf ] || {
		(trap "" TERM; echo yes >deaf; sleep 100) & echo $! >pid
		until [ -e deaf ]; do sleep 0.01; done
		wait
	}'
	await is_ended "$(cat pid)"
	head -n 1 out | grep -q '"attempt":1,.*"exit":124}$'
}

test_exec_leaves_what_a_command_leaves_behind() {
	due a
	expect 0 durawheel run --until-idle --timeout 10s --exec 'sleep 100 & echo $! >pid
		setsid -f sh -c "echo \$\$ >daemon; exec sleep 100"
		until [ -s daemon ]; do sleep 0.02; done'
	for pid in "$(cat pid)" "$(cat daemon)"; do
		! is_ended "$pid" || fail 'it is ended'
		kill "$pid"
	done
}

# has_no_children: of the owner, no zombie either.
has_no_children() {
	[ -z "$(cat "/proc/$owner/task/$owner/children")" ]
}

test_exec_leaves_no_zombie() {
	local timers
	timers=$(scaled 200)
	many "$timers" | durawheel import
	start --exec '(sleep 0.01 &)'
	await is_counted fired "$timers"
	await has_no_children
	stop_owner
}

# is_asleep: the owner does nothing for a while.
is_asleep() {
	grep ctxt_switches "/proc/$owner/status" >before
	sleep 0.3
	grep ctxt_switches "/proc/$owner/status" | cmp - before
}

test_exec_waits_without_asking() {
	due a
	: >begun
	start --timeout 1h --exec "$waiting"
	await is_running 1
	await is_asleep
	touch go
	await is_counted fired 1
	stop_owner
}

test_exec_stopped_waits_for_what_runs() {
	for id in a b c; do
		due $id
	done
	: >begun
	start --jobs 1 --exec "$waiting"
	await is_running 1
	kill -TERM "$owner"
	await grep -q 'stopping: waiting for 1 running' log
	touch go
	ended 0
	is_counted fired 1
	[ "$(ids_of fired)" = "$(cat begun)" ]
	has_count pending 2
	has_count claimed 0
	rm go
}

# hurries: a second signal, after a while.
hurries() {
	kill -TERM "$owner"
	grep -q 'ending 1 running' log
}

test_exec_stopped_twice_ends_what_runs() {
	due a
	: >begun
	start --exec "$waiting; echo \$DW_ATTEMPT >>attempts"
	await is_running 1
	kill -TERM "$owner"
	await hurries
	ended 0
	is_counted fired 0
	has_count pending 1
	touch go
	expect 0 durawheel run --until-idle --exec "$waiting; echo \$DW_ATTEMPT >>attempts"
	[ "$(cat attempts)" = 2 ] # the first one did not come so far
}

# stopping: an owner of which the command runs, and which has been told to stop by SIGTERM.
stopping() {
	: >begun
	env --default-signal=INT durawheel run --exec "$waiting" >>fired 2>log &
	owner=$!
	await is_running 1
	kill -TERM "$owner"
	await grep -q 'stopping: waiting for 1 running' log
}

test_exec_stopped_by_another_signal_ends_what_runs_at_once() {
	due a
	stopping
	kill -INT "$owner"
	await grep -q 'ending 1 running' log
	ended 0
}

test_exec_stopped_by_the_same_signal_a_little_later_ends_what_runs() {
	due a
	stopping
	sleep 0.3
	kill -TERM "$owner"
	await grep -q 'ending 1 running' log
	ended 0
}

# A terminal may send it twice. On a busy machine the second one is read too late to be the same.
test_exec_stopped_by_the_same_signal_twice_waits() {
	for ((try = 0; try < 30; try++)); do
		due a # a new timer, without pauses after the retries of the last one
		stopping
		kill -TERM "$owner"
		await has_read_its_signals
		sleep 0.1
		touch go
		ended 0
		! is_counted fired 1 || break
		rm go
	done
	is_counted fired 1
}

# has_read_its_signals: none is pending for the process, or it has ended.
has_read_its_signals() {
	! kill -0 "$owner" 2>/dev/null || grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$owner/status"
}

test_exec_stopped_is_patient_for_so_long() {
	due a
	: >begun
	start --exec "trap 'exit 0' TERM; $waiting"
	await is_running 1
	kill -TERM "$owner"
	ended 0
	grep -q 'ending 1 running: they are delivered again' log
	has_count pending 1 # even though it says that all is well
	is_counted fired 0
	durawheel show a | grep -q '^retries  *0$'
}

test_exec_killed_delivers_again() {
	due a
	due b
	: >begun
	start --exec "echo \$DW_ID \$DW_ATTEMPT >>attempts; $waiting"
	await is_running 2
	kill_owner
	expect 0 durawheel run --until-idle --exec 'echo $DW_ID $DW_ATTEMPT >>attempts'
	[ "$(sort attempts | tr '\n' ' ')" = 'a 1 a 2 b 1 b 2 ' ]
}

test_exec_settles_what_has_run_though_no_line_was_taken() {
	due a
	code=0
	durawheel run --exec true >/dev/full 2>err || code=$?
	[ $code = 1 ]
	says 'cannot write to stdout: No space left'
	has_count pending 0
	has_count claimed 0
}

test_exec_holds_when_a_pipe_is_full() {
	many 900 "$(text 1000)" | durawheel import # 512 lines wait, and a pipe full of them
	mkfifo pipe
	durawheel run --until-idle --jobs 8 --exec 'echo $DW_ID >>ran' >pipe 2>log &
	owner=$!
	exec 3<pipe
	await has_stopped_growing ran
	[ "$(wc -l <ran)" -lt 900 ]
	timeout "$patience" cat <&3 >got
	ended 0
	is_counted got 900
	is_counted ran 900
	[ "$(sort -u ran | wc -l)" = 900 ]
}

test_exec_stopped_at_a_full_pipe_repeats_nothing() {
	many 900 "$(text 1000)" | durawheel import # 512 lines wait, and a pipe full of them
	mkfifo pipe
	durawheel run --exec 'echo $DW_ID >>ran' >pipe 2>log &
	owner=$!
	exec 3<pipe
	await has_stopped_growing ran
	kill -TERM "$owner"
	await is_gone
	exec 3<&-
	expect 0 durawheel run --jobs 8 --until-idle --exec 'echo $DW_ID >>ran'
	is_counted ran 900
	[ "$(sort -u ran | wc -l)" = 900 ]
}

# has_stopped_growing FILE: it has begun to. (Within a condition set -e does not count.)
has_stopped_growing() {
	local size
	[ -s "$1" ] && size=$(wc -l <"$1") && sleep 0.5 && [ "$(wc -l <"$1")" = "$size" ]
}

test_exec_options_are_checked() {
	expect 2 durawheel run --jobs 2
	says 'run: --jobs is for --exec CMD'
	expect 2 durawheel run --exec-output stdout
	says 'run: --exec-output is for --exec CMD'
	expect 2 durawheel run --exec true --exec-output both
	says '--exec-output "both": write stdout or stderr'
	expect 2 durawheel run --timeout 2s
	expect 2 durawheel run --exec ''
	says '--exec "": write the command to run'
	for bad in 0 -1 x 1025 99999999999999999999; do
		expect 2 durawheel run --exec true --jobs "$bad"
		says '--jobs'
	done
	expect 2 durawheel run --exec true --timeout 0s
	says '--timeout 0s would end every command at once'
	expect 2 durawheel run --exec true --timeout 5
	says '--timeout "5" is not a duration'
}

# A machine that has no room for a command uses up no retry of a timer.
test_exec_tries_again_when_nothing_can_be_started() {
	expect 0 durawheel topic set t --retries 1 --backoff 1ms
	expect 0 durawheel add --topic t --id soon --in 1h
	durawheel run --jobs 2 --exec 'echo "$DW_ID" >>ran' >fired 2>log &
	owner=$!
	await is_started
	prlimit --pid "$owner" --nofile=3: # no further descriptor
	for id in a b c d; do due $id; done
	await grep -q ': cannot start the command: Too many open files; it is tried again' log
	sleep 2.5 # it tries again each second
	[ ! -s fired ]
	prlimit --pid "$owner" --nofile=256:
	await is_counted fired 4
	stop_owner
	[ "$(grep -c '"attempt":1,.*"exit":0' fired)" = 4 ] || fail "$(cat fired)"
	is_counted ran 4
}

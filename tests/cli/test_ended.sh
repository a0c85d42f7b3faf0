# What became of a timer: topic set --keep, add --keep and --once, and show.
# shellcheck shell=bash disable=SC2154,SC2034

time='20[0-9-]*T[0-9:.]*Z'

# is_told: a timer that fired, one that was cancelled, one that died, and one that never was.
is_told() {
	expect 0 durawheel topic set t --keep 7d
	for id in fired dead cancelled; do
		expect 0 durawheel add --topic t --id $id --in 0 --data secret
	done
	expect 0 durawheel cancel cancelled
	expect 0 durawheel run --topic t --until-idle \
		--exec "[ \$DW_ID = fired ] || { echo 'card refused' >&2; exit 100; }"
	expect 3 durawheel show fired
	grep -qx "done $time, attempt 1, [0-9a-z]* late, by .* pid [0-9]*" out
	expect 3 durawheel show cancelled
	grep -qx "cancelled $time, never started, by .* pid [0-9]*" out
	expect 3 durawheel show dead
	grep -qx "dead $time, GAVE_UP, attempt 1, [0-9a-z]* late, by .* pid [0-9]*" out
	grep -qx 'why  *exit status 100: card refused' out
	grep -qx 'to requeue  *durawheel dead requeue dead' out
	expect 3 durawheel show never
	says '^durawheel: never: no such timer: it never was, or its end is not kept any more; '
	says ' ends are kept of the topics t for 7d, and of timers with --keep$'
	[ ! -s out ] || fail "a timer that never was has an end"
	expect 3 durawheel show --json fired
	sed 's/:[0-9]\{10,\}/:N/g; s/"by":".* pid [0-9]*"/"by":"P"/' out >plain
	grep -qx '{"id":"fired","topic":"t","end":"done","reason":"","at":N,"due":N,"started":N'`
		`',"attempt":1,"retries":0,"generation":N,"by":"P","until":N}' plain
	expect 3 durawheel show --json dead
	grep -q '"end":"dead","reason":"GAVE_UP"' out
	grep -q '"letter":true,"why":"exit status 100: card refused"}$' out
	expect 0 durawheel dead drop dead
	expect 3 durawheel show dead
	! grep -q 'why\|requeue' out || fail "a letter that was dropped is shown"
	expect 3 durawheel show --json dead
	! grep -q 'letter' out || fail "a letter that was dropped is told"
	expect 0 durawheel add --topic t --id fired --in 1h
	expect 0 durawheel show fired
	grep -q "^last end  *done $time, " out
	grep -q '^state  *pending' out
	expect 0 durawheel show --json fired
	grep -q '"state":"pending",.*"ended":{"id":"fired",.*"end":"done"' out
	expect 0 durawheel check
}

# is_found_among_the_dead: no end is kept, but a dead letter.
is_found_among_the_dead() {
	expect 0 durawheel add --topic t --id gone --in 0
	expect 0 durawheel add --topic t --id gone2 --in 0 --data secret
	expect 0 durawheel run --topic t --until-idle --exec 'echo "card refused" >&2; exit 100'
	expect 3 durawheel show gone2
	grep -qx "dead $time, GAVE_UP, attempt 1" out
	grep -qx 'why  *exit status 100: card refused' out
	grep -qx 'to requeue  *durawheel dead requeue gone2' out
	[ ! -s err ] || fail "it complains, too: $(cat err)"
	expect 3 durawheel show --json gone2
	sed 's/:[0-9]\{10,\}/:N/g' out >plain
	grep -qx '{"id":"gone2","topic":"t","reason":"GAVE_UP","at":N,"due":N,"attempt":1'`
		`',"retries":0,"crashes":0,"generation":N,"why":"exit status 100: card refused"'`
		`',"size":6,"data":"secret","end":"dead"}' plain
	expect 3 durawheel show gone1
	says 'gone1: no such timer: it never was'
	expect 0 durawheel dead requeue gone2 --in 1h
	expect 0 durawheel show gone2
	expect 0 durawheel cancel gone2
	expect 3 durawheel show gone2
	says 'gone2: no such timer: it never was'
}

test_ended_without_an_end_is_found_among_the_dead() {
	is_found_among_the_dead
}

test_ended_without_an_end_is_found_among_the_dead_in_redis() {
	on_redis
	is_found_among_the_dead
}

# is_once: an id is let through once while its end is kept.
is_once() {
	expect 0 durawheel add --topic u --id hook --in 0 --once --keep 24h
	expect 4 durawheel add --topic u --id hook --in 0 --once --keep 24h
	says 'the id has a timer already, or its end is kept: see durawheel show [a-z]*$'
	expect 0 durawheel run --topic u --until-idle
	expect 4 durawheel add --topic u --id hook --in 0 --once --keep 24h
	expect 3 durawheel show hook
	grep -q '^done ' out
	expect 0 durawheel add --topic u --id hook --in 0 --new
	expect 0 durawheel cancel hook
	expect 0 durawheel add --topic u --id other --in 1h --once
	expect 4 durawheel add --topic u --id other --in 1h --once
	expect 0 durawheel cancel other
	expect 0 durawheel add --topic u --id other --in 1h --once
}

# A claim that found the timer too late has started nothing; a cancel does not know that.
test_ended_of_a_late_timer_never_started() {
	expect 0 durawheel topic set t --keep 7d
	expect 0 durawheel add --topic t --id late --at 2020-01-01T00:00:00Z --late-after 1s
	expect 0 durawheel run --until-idle
	expect 3 durawheel show late
	grep -qx "dead $time, LATE, never started, by .* pid [0-9]*" out
	expect 0 durawheel dead requeue late --in 1h
	expect 0 durawheel cancel late
	expect 3 durawheel show late
	grep -qx "cancelled $time, attempt 1 may have started, by .* pid [0-9]*" out
}

test_ended_is_told_of_each_kind() {
	is_told
}

test_ended_is_told_in_redis() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	redis_start "$PWD"
	export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
	is_told
	is_once
	redis_stop
}

test_once_lets_an_id_through_once() {
	is_once
}

test_keep_is_refused_in_words() {
	for keep in 0 91d; do
		expect 2 durawheel add --topic t --id a --in 0 --keep $keep
		says "^durawheel: --keep \"$keep\": write at most 90d, and at least 1us$"
	done
	expect 2 durawheel add --topic t --id a --in 0 --keep soon
	expect 2 durawheel add --topic t --id a --in 0 --once --new
	says 'add: --once refuses all that --new does: write one of them'
	expect 2 durawheel add --topic t --id a --in 0 --once --due-latest
	says 'add: --once replaces no timer: it has no --due-earliest, --due-latest and '
	says ' --data-first$'
}

# keep goes through list and import, as late_after does.
test_keep_is_listed_and_imported() {
	expect 0 durawheel add --topic t --id a --in 1h --keep 36h
	expect 0 durawheel show a
	grep -q '^keep  *1d12h$' out
	expect 0 durawheel list --json
	grep -q '"keep":"1d12h"' out
	cp out listed
	expect 0 durawheel cancel a
	expect 0 durawheel import listed
	expect 0 durawheel cancel a
	expect 3 durawheel show a
	grep -q '^cancelled ' out
	echo '{"id":"a","topic":"t","in":"1h","keep":"91d"}' >bad
	expect 1 durawheel import bad
	says '"keep" is not 1us to 90d: write that, or leave it out$'
}

# What it prints can be pasted into a shell.
test_ended_says_how_to_requeue() {
	local id
	empty_store
	for id in order:42 'exam 7 & 8' -x "it's"; do
		expect 0 durawheel add --topic t --in 0 "--id=$id"
	done
	expect 0 durawheel run --until-idle --exec 'exit 100'
	for id in order:42 'exam 7 & 8' -x "it's"; do
		expect 3 durawheel show -- "$id"
		sed -n 's/^to requeue  *//p' out >commands
		expect 0 sh ./commands
		expect 0 durawheel show -- "$id"
	done
}

# Of a kept end and a dead letter the later one is told as the last.
tells_the_last_end() {
	expect 0 durawheel add --topic t --id a --in 0
	expect 0 durawheel run --until-idle --exec 'exit 100'
	expect 0 durawheel add --topic u --id a --in 0 --keep 1d
	expect 0 durawheel run --until-idle --exec true
	expect 3 durawheel why a
	[ "$(sed 's/ .*//' out | tr '\n' ' ')" = \
		'id topic dead last dead was started done waits ' ] || fail "$(cat out)"
	grep -qx 'waits for  *nothing: it has ended' out
	expect 3 durawheel why --json a
	grep -q '"topic":"u","state":"done",' out
	expect 3 durawheel show a
	grep -q '^done ' out
	lacks '^to requeue' out

	expect 0 durawheel add --topic u --id b --in 0 --keep 1d
	expect 0 durawheel run --until-idle --exec true
	expect 0 durawheel add --topic t --id b --in 0
	expect 0 durawheel run --until-idle --exec 'exit 100'
	expect 3 durawheel why b
	[ "$(sed 's/ .*//' out | tr '\n' ' ')" = \
		'id topic was started done dead last dead waits command ' ] || fail "$(cat out)"
	grep -qx 'command  *durawheel dead requeue b' out
	expect 3 durawheel why --json b
	grep -q '"topic":"t","state":"dead",' out
	expect 3 durawheel show b
	grep -qx "dead $time, GAVE_UP, attempt 1" out
	grep -qx 'to requeue  *durawheel dead requeue b' out
	expect 3 durawheel show --json b
	grep -q '"topic":"t","reason":"GAVE_UP",.*"end":"dead"}$' out
}

test_ended_tells_the_last_end() {
	tells_the_last_end
}

test_ended_tells_the_last_end_in_redis() {
	on_redis
	tells_the_last_end
	redis_stop
}

# A damaged letter cannot be requeued: its bytes are not those of the timer.
test_ended_says_how_to_drop_a_damaged_letter() {
	expect 0 durawheel add --topic t --id it --in 0 --data 'damage me!'
	damage 'damage me'
	expect 0 durawheel run --until-idle
	expect 3 durawheel show it
	grep -q "^dead $time, CORRUPT, .*, damaged: it can only be dropped$" out
	grep -qx 'to drop  *durawheel dead drop it' out
	expect 3 durawheel why it
	grep -qx 'dead letter  *damaged: it can only be dropped' out
	grep -qx 'waits for  *nothing: it is dead' out
	sed -n 's/^command  *//p' out >commands
	is_counted commands 1
	expect 0 sh ./commands
	expect 3 durawheel why it
	says 'it: no such timer'
}

# durawheel top: on a terminal and into a pipe.
# shellcheck shell=bash disable=SC2154,SC2034,SC1003

# is_left: the terminal has been given back: its own screen, the cursor and wrapped lines.
is_left() {
	grep -q $'\e\[?1049l' screen && grep -q $'\e\[?25h' screen && grep -q $'\e\[?7h' screen
}

test_top_into_a_pipe_is_one_picture() {
	expect 0 durawheel add --topic order.timeout --in 1h --id a
	expect 0 durawheel topic set q --queue
	expect 0 durawheel push --topic q --id m
	expect 0 durawheel top
	grep -q 'timers.db: NOBODY OWNS THE STORE, nothing fires' out
	grep -q '^timers    1 pending, 0 claimed, next in 59m' out
	grep -qE '^ +- +- +- +1 .*  q \(queue\)$' out
	! grep -q $'\e' out
	start
	await has_line 'owner .*, pid '
	stop_owner
	expect 0 durawheel top --once
}

has_line() {
	durawheel top --once | grep -q "$1"
}

test_top_shows_quits_and_gives_the_terminal_back() {
	expect 0 durawheel add --topic t --in 1h --id a
	start
	on_terminal 'await=PENDING.*TOPIC' 'await=by what waits: q quits' send=s \
		'await=by pending' send=q end=0 -- durawheel top --every 100ms
	is_left
	for name in TERM INT HUP QUIT; do
		on_terminal 'await=q quits' signal=$name end=$((128 + $(kill -l $name))) \
			-- durawheel top
		is_left
	done
	stop_owner
}

# More topics than rows: the arrows scroll, and a larger terminal shows more.
test_top_scrolls_and_follows_the_size() {
	for i in $(seq 10 39); do
		echo "{\"id\":\"$i\",\"topic\":\"topic.$i\",\"in\":\"1h\"}"
	done >lines
	expect 0 durawheel import lines
	start
	await has_topics 30
	on_terminal 'await=topic\.10.*topic\.24' 'send=\e[B' 'await=topic\.11.*topic\.25' \
		'send=\e[6~' 'await=topic\.39' 'send=\e[5~\e[A' 'await=topic\.10' 60x80 \
		'await=topic\.10.*topic\.39' 10x40 'await=30 topics by what waits' send=q end=0 \
		-- durawheel top
	! grep -q 'topic\.27' <(head -c 2000 screen)
	stop_owner
}

has_topics() {
	[ "$(durawheel topic list --json | wc -l)" = "$1" ]
}

# owner_reports NUMBERS: the owner, which is stopped, has said this last.
owner_reports() {
	python3 - "$1" <<'EOF'
import sqlite3, sys
with sqlite3.connect("timers.db", timeout=60) as db:
    db.execute("UPDATE owner SET report = ?", (sys.argv[1],))
EOF
}

# stop_between_writes: an owner that is stopped in the middle of one has the lock.
stop_between_writes() {
	until kill -STOP "$owner" && python3 -c '
import sqlite3
db = sqlite3.connect("timers.db", timeout=0, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
db.execute("ROLLBACK")
'; do
		kill -CONT "$owner"
		sleep 0.1
	done
}

test_top_says_that_the_owner_loads() {
	many 1234 | sed 's/2020/2120/' >lines
	expect 0 durawheel import lines
	start
	stop_between_writes
	owner_reports '{"recovering":true,"timers":1024}'
	expect 0 durawheel top
	grep -q 'timers.db: owner .*, pid .*, loading 1,024 of 1,234$' out || fail "$(head -1 out)"
	owner_reports '{"recovering":false,"timers":1234}'
	expect 0 durawheel top
	grep -qE 'timers.db: owner .*, pid .*, for [0-9ms]+$' out || fail "$(head -1 out)"
	kill -CONT "$owner"
	stop_owner
}

# last_rows: the rows of the last picture on the screen.
last_rows() {
	awk 'BEGIN { RS = "\033[[]H" } { rows = gsub(/\n/, "") + 1 } END { print rows }' screen
}

# A picture with a row too many scrolls the first one away.
test_top_keeps_to_the_rows_while_the_store_is_away() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	local rows
	for i in $(seq 10 39); do
		echo "{\"id\":\"$i\",\"topic\":\"topic.$i\",\"in\":\"1h\"}"
	done >lines
	for rows in 24 12 9 8 5; do
		redis_start "$PWD"
		export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
		expect 0 durawheel import lines
		start
		await has_topics 30
		on_terminal "${rows}x80" 'await=timers ' "run=kill -9 $redis_pid" \
			'await=the store is in trouble' 'await=timers ' send=q end=0 \
			-- durawheel top
		kill_owner
		redis_kill
		[ "$(last_rows)" = "$rows" ] || fail "$(last_rows) rows of $rows"
	done
}

test_top_says_when_nobody_owns_the_store() {
	expect 0 durawheel add --topic t --in 1h --id a
	start
	on_terminal 'await=owner .*, pid' "await=q quits" send=q end=0 -- durawheel top
	kill -9 "$owner"
	wait "$owner" || true
	on_terminal 'await=NOBODY OWNS' send=q end=0 -- durawheel top
}

# A name cannot send commands to the terminal, nor move what stands before it.
test_top_shows_hostile_names() {
	local long
	long=$(printf 'x%.0s' {1..63})
	printf '{"topic":"%s","in":"1h"}\n' '‮gnp' '宽宽宽' '<b>' "$long" >lines
	expect 0 durawheel import lines
	expect 0 durawheel topic set '‮gnp' --retries 3
	start
	await has_topics 4
	on_terminal 'await=q quits' send=q end=0 -- durawheel top
	grep -qF '\xe2\x80\xaegnp' screen
	grep -qE $' +1 +0 +0 .* 宽宽宽' screen
	grep -qF '<b>' screen
	stop_owner
}

# silent_redis: this test's store is a server that takes connections and does not answer.
silent_redis() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	redis_start "$PWD"
	export DURAWHEEL_STORE=unix://$PWD/socket
	kill -STOP "$redis_pid"
}

# begin_ended COMMAND...: it begins with a SIGTERM that it has not yet received. On a busy machine a
# signal that is sent later may come after the 5 s in which the store is given up.
begin_ended() {
	# shellcheck disable=SC2016
	env --block-signal=TERM sh -c 'kill -TERM $$ && exec "$@"' sh "$@" >out 2>log &
	owner=$!
}

test_top_waits_for_a_store_and_can_be_ended() {
	local name
	silent_redis
	on_terminal 'await=durawheel: durawheel: waiting for the store to answer; q quits' \
		send=xq end=0 -- durawheel top
	for name in INT TERM HUP QUIT; do
		on_terminal 'await=waiting for' signal=$name end=$((128 + $(kill -l $name))) \
			-- durawheel top
	done
	begin_ended durawheel top --once
	ended 143
}

# ends_while_opening COMMAND...: with 0, before the store is given up.
ends_while_opening() {
	begin_ended "$@"
	ended 0
	grep -q 'stopped before the store answered' log
}

test_run_and_serve_can_be_ended_while_they_open() {
	silent_redis
	ends_while_opening durawheel run
	ends_while_opening durawheel run --exec true
	ends_while_opening durawheel serve --http "unix:$PWD/web"
}

# The signal has come when the store cannot be opened, so that is no failure.
test_run_and_top_can_be_ended_as_they_fail_to_open() {
	start
	standby=$owner
	ends_while_opening durawheel run
	owner=$standby standby=
	stop_owner
	export DURAWHEEL_STORE=sqlite:$PWD/nothing.db
	begin_ended durawheel top --once
	ended 143
}

test_top_options_are_checked() {
	expect 0 durawheel add --topic t --in 1h --id a
	expect 2 durawheel top --every 1ms
	says '--every "1ms": write 100ms to 1h'
	expect 2 durawheel top a
	expect 6 durawheel top --store unix:///nowhere/redis.sock
}

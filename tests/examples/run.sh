#!/usr/bin/env bash
# The examples, used as their users use them.
#
#	tests/examples/run.sh FOLDER CASE...        FOLDER holds the built examples
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
timetable=$root/examples/aqa-gcse-2023.csv
bin=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
pid=
# shellcheck source=tests/support/redis_server.sh
. "$root/tests/support/redis_server.sh"
trap '[[ -z $pid ]] || kill -9 "$pid" 2>/dev/null || true; redis_kill; rm -rf "$work"' EXIT
cd "$work"

die()
{
	echo "FAILED: $*" >&2
	tail -n 20 out* errors refused.out >&2 2>/dev/null || true
	exit 1
}

# expect FILE TEXT: the line TEXT comes within a minute.
expect()
{
	local tries
	for ((tries = 0; tries < 1200; tries++)); do
		! grep -qxF -- "$2" "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	die "\"$2\" is not in $1"
}

# expect_lines FILE COUNT: so many lines come within a minute.
expect_lines()
{
	local tries
	for ((tries = 0; tries < 6000; tries++)); do
		[[ $(wc -l <"$1") -lt $2 ]] || return 0
		sleep 0.01
	done
	die "$1 has not got $2 lines"
}

# refused STATUS WORDS COMMAND...: it ends with that status and says those words.
refused()
{
	local status=0
	"${@:3}" >refused.out 2>&1 </dev/null || status=$?
	[[ $status == "$1" ]] || die "${*:3} ended with $status instead of $1"
	grep -q -- "$2" refused.out || die "${*:3} does not say \"$2\""
}

killed()
{
	kill -9 "$pid"
	{ wait "$pid"; } 2>/dev/null || true
	pid=
}

check()
{
	"$root/tests/support/check_reminders.sh" "$@" || die "the reminders are wrong"
}

# start_reminders OUTPUT OPTION...: on a SQLite file, or in $store; in the background.
start_reminders()
{
	: >"$1"
	"$bin/exam_reminders" --store "${store-sqlite:exams.db}" --until-idle "${@:2}" \
		"$timetable" >"$1" 2>>errors </dev/null &
	pid=$!
}

reminders_case()
{
	local first='08:30 +01:00 Mon 15 May  in 30 min: Religious Studies A Paper 1 (8062/ 11-17) '
	"$bin/exam_reminders" --store memory: --speed 1000000 --until-idle "$timetable" \
		>out 2>errors
	check "$timetable" out
	[[ $(wc -l <out) == 124 ]] || die "124 reminders are expected"
	[[ $(head -n 1 out) == "$first"* ]] ||
		die "the first paper is not told as it is"
}

# Every moment of an import may be its last one; a head start keeps reminders from firing then.
killed_import_case()
{
	local delay
	for delay in 0 0.004 0.008 0.012 0.016 0.02 0.03 0.04 0.06 0.08; do
		start_reminders early --speed 1000000
		sleep "$delay"
		killed
		[[ ! -s early ]] || break
	done
	start_reminders out --speed 1000000
	wait "$pid" || die "the reminders failed"
	pid=
	if [[ -s early ]]; then check "$timetable" early out; else check "$timetable" out; fi
}

# A reminder that came due while nobody was there says so; the others do not.
overdue_case()
{
	local try
	for ((try = 0; try < 10; try++)); do
		rm -f exams.db* errors
		start_reminders early --speed 1000000
		expect errors "the timetable is stored: 124 papers of $timetable"
		killed
		[[ -s early ]] || break
	done
	[[ ! -s early ]] || die "the first reminder is always sooner than the kill"
	sleep 2
	start_reminders out --speed 1000000
	wait "$pid" || die "the reminders failed"
	pid=
	check "$timetable" out
	head -n 1 out | grep -q ' ms after its time (due before this start)$' || die "it is late"
	tail -n 1 out | grep -q ' ms after its time$' || die "the last one is not late"
}

killed_reminders_case()
{
	local round outputs=()
	for round in 1 2 3; do
		start_reminders "out$round" --speed 500000
		outputs+=("out$round")
		expect_lines "out$round" 25
		killed
	done
	start_reminders out4
	wait "$pid" || die "the reminders failed"
	pid=
	check "$timetable" "${outputs[@]}" out4
	start_reminders out5
	wait "$pid" || die "the reminders failed"
	pid=
	[[ ! -s out5 ]] || die "a term that is over began again"
}

# list_days OUTPUT FROM: the term that begins on 6 March 2028, over the change to summer time.
list_days()
{
	"$bin/exam_reminders" --daily --store sqlite:days.db --from "$2" \
		--until 2028-04-12T12:00:00Z --begins 2028-03-06 --speed 3000000 "$timetable" \
		>"$1" 2>>errors </dev/null &
	pid=$!
}

# Every weekday at 08:00 in London, each once, although it is killed; every exam is in a list.
daily_case()
{
	list_days out1 2028-03-06T00:00:00Z
	expect_lines out1 30
	killed
	list_days out2 "$(grep '^2028' out1 | tail -n 1 | cut -d' ' -f1)"
	wait "$pid" || die "the list failed"
	pid=
	grep -h '^2028' out1 out2 | sort -u >days
	[[ $(wc -l <days) == 28 ]] || die "not each of the 28 days has a list"
	[[ $(grep -c 'T08:00:00Z .* 08:00 +00:00 ' days) == 15 ]] || die "before 26 March"
	[[ $(grep -c 'T07:00:00Z .* 08:00 +01:00 ' days) == 13 ]] || die "from 26 March on"
	grep -q '^2028-03-24T08:00:00Z  Fri 24 Mar 08:00 +00:00  0 exams' days || die "Friday"
	grep -q '^2028-03-27T07:00:00Z  Mon 27 Mar 08:00 +01:00  7 exams' days || die "Monday"
	# A list that was being written when it was killed is written again.
	[[ $(cat out1 out2 | grep -c '^2028') -le 29 ]] || die "a day has several lists"
	[[ $(cat out1 out2 | grep '^  ' | sort -u | wc -l) == 124 ]] || die "an exam is missing"
	[[ ! -s errors ]] || die "it is not quiet"
}

# RFC 4180: fields in quotes, with commas, quotes and line ends; CRLF; no end of the last line.
timetable_case()
{
	printf '%s\r\n' unit,subject,tier,start,minutes \
		'"A, ""1""","Art, ""modern""",,2030-01-02T00:10:00-05:00,90' \
		$'B,"two\r\nlines",,2030-01-02T05:10:00Z,90' >good.csv
	printf 'C,,,2030-01-02T05:09:59.5Z,90' >>good.csv
	"$bin/exam_reminders" --store memory: --speed 1000 --remind 1h30m --until-idle good.csv \
		2>errors | sed 's/   [0-9.]* ms after its time$//' >out
	diff - out <<-'END' || die "the timetable was read wrongly"
		03:39 UTC Wed 02 Jan  in 90 min:  (C)
		22:40 -05:00 Tue 01 Jan  in 90 min: Art, "modern" (A, "1")
		03:40 UTC Wed 02 Jan  in 90 min: two  lines (B)
	END
}

# A build says how far it is until it ends; this one fails when that was said twice, or too late.
quickstart_case()
{
	local status=0
	mkdir tools
	cat >tools/cmake <<-END
		#!/bin/sh
		echo '[ 45%] Building C object api.c.o'
		for try in \$(seq 600); do
			[ "\$(grep -c ' s: \[ 45%\] Building' "$PWD/out")" -lt 2 ] || exit 1
			sleep 0.1
		done
		exit 1
	END
	chmod +x tools/cmake
	PATH=$PWD/tools:$PATH "$root/examples/quickstart.sh" >out 2>errors || status=$?
	[[ $status == 1 ]] || die "the quickstart ended with $status"
	[[ $(grep -c '^   \.\.\. [0-9]* s: \[ 45%\] Building C object api.c.o$' out) -ge 2 ]] ||
		die "the build does not say how far it is"
	grep -q 'failed: 2. Build' errors || die "it does not say what failed"
}

usage_case()
{
	local reminders=("$bin/exam_reminders" --store memory: --until-idle)
	refused 2 usage: "${reminders[@]}"
	refused 2 usage: "${reminders[@]}" --speed 0 "$timetable"
	refused 2 usage: "${reminders[@]}" --speed 5s "$timetable"
	refused 2 usage: "${reminders[@]}" --remind 90s "$timetable"
	refused 2 usage: "${reminders[@]}" --from 2023-05-15T09:00:00 "$timetable"
	refused 2 usage: "${reminders[@]}" --begins 2028-03-06 "$timetable"
	refused 2 usage: "$bin/exam_reminders" --daily --speed 5 "$timetable"
	refused 2 usage: "$bin/exam_reminders" --daily --begins 6.3.2028 "$timetable"
	refused 1 missing.csv: "${reminders[@]}" missing.csv
	refused 0 '124 of 124 reminders are past' "${reminders[@]}" "$timetable"
	printf 'unit,subject\n' >bad.csv
	refused 1 'must begin with unit,subject' "${reminders[@]}" bad.csv
	printf 'unit,subject,tier,start,minutes\nA,B,C,yesterday,5\n' >bad.csv
	refused 1 'paper 1 is not' "${reminders[@]}" bad.csv
	printf 'unit,subject,tier,start,minutes\n"A,B,C,2030-01-02T05:10:00Z,5\n' >bad.csv
	refused 1 'paper 1 is not' "${reminders[@]}" bad.csv
	refused 2 usage: "$bin/order_timeout" --timeout soon
}

# start_orders OPTION...: in the background; say is its input, out its output.
start_orders()
{
	[[ -p input ]] || mkfifo input
	"$bin/order_timeout" "$@" <input >>out 2>>errors &
	pid=$!
	exec 3>input
}

say()
{
	printf '%s\n' "$@" >&3
}

orders_case()
{
	start_orders --store memory: --timeout 1s
	say 'order 1' 'pay 1'
	expect out 'order 1: paid'
	say 'order 2' 'order 2'
	expect out 'order 2: refused, the id has a timer already'
	expect out 'order 2: not paid in time, cancelled'
	say 'pay 2' # too late by a moment, or by more
	expect_lines out 6
	grep -q '^order 2: .*; money back$' out || die "order 2 was paid after its timeout"
	say 'pay 3' refund
	expect out 'order 3: not waiting for payment; money back'
	expect out 'say: order NUMBER, pay NUMBER or quit'
	say quit
	wait "$pid" || die "order_timeout failed"
	pid=
	[[ $(grep -c '^order 1: not paid' out) == 0 ]] || die "a paid order was cancelled"
}

# An hour passes in each of its tests, which is no hour of this one.
test_orders_case()
{
	timeout 60 "$bin/test_orders" >out 2>&1 || die "test_orders failed"
	[[ $(grep -c '^\[ *OK \]' out) == 3 ]] || die "3 tests are expected"
}

killed_orders_case()
{
	start_orders --store sqlite:orders.db --timeout 2s
	say 'order 1' 'order 2'
	expect out 'order 2: waiting for payment'
	say 'pay 1'
	expect out 'order 1: paid'
	killed
	exec 3>&-
	start_orders --store sqlite:orders.db
	expect out 'order 2: not paid in time, cancelled'
	say 'order 2'
	expect_lines out 5
	say quit
	wait "$pid" || die "order_timeout failed"
	pid=
	[[ $(grep -c 'cancelled$' out) == 1 ]] || die "one order was to be cancelled"
}

# start_embedded PROGRAM STORE TIMEOUT: in the background, its output is out; with a port that it
# says.
start_embedded()
{
	: >out
	"$bin/$1" "$2" "$3" >out 2>>errors </dev/null &
	pid=$!
	expect_lines out 1
	port=$(sed -n '1s/^listening on 127.0.0.1://p' out)
	[[ -n $port ]] || die "$1 does not say its port"
}

# stopped: SIGTERM ends it, and well.
stopped()
{
	kill "$pid"
	wait "$pid" || die "SIGTERM did not end it well"
	pid=
	[[ ! -s errors ]] || die "$(cat errors)"
}

# ask COMMAND ANSWER: one datagram there, one back.
ask()
{
	local answer
	printf '%s' "$1" >&4
	answer=$(timeout 60 dd bs=256 count=1 status=none <&4) # a read is a datagram
	[[ $answer == "$1: $2" ]] || die "\"$1\" is answered \"$answer\" instead of \"$2\""
}

embed_epoll_case()
{
	start_embedded embed_epoll memory: 1500ms
	exec 4<>"/dev/udp/127.0.0.1/$port"
	ask 'order 1' 'done'
	ask 'pay 1' 'done'
	ask 'pay 1' 'no such timer'
	ask 'order 2' 'done'
	ask 'order 2' 'the id has a timer already'
	ask 'ship 2' 'invalid argument'
	expect out 'order 2: not paid in time, cancelled'
	exec 4>&-
	stopped
	[[ $(grep -c cancelled out) == 1 ]] || die "a paid order was cancelled"
}

embed_libev_case()
{
	mkfifo input
	"$bin/embed_libev" memory: 1500ms <input >out 2>>errors &
	pid=$!
	exec 3>input
	say 'order 1' 'pay 1' 'order 2' 'pay 3' 'ship 2'
	expect out 'order 1: paid'
	expect out 'order 3: not waiting for payment; money back'
	expect out 'ship 2: say order NUMBER or pay NUMBER'
	expect out 'order 2: not paid in time, cancelled'
	stopped
	exec 3>&-
	[[ $(wc -l <out) == 4 ]] || die "4 lines are expected"
	"$bin/embed_libev" memory: <<<'order 4' >out 2>>errors || die "the end of the input"
	[[ ! -s out && ! -s errors ]] || die "the end of the input is an error"
}

embed_libuv_case()
{
	start_embedded embed_libuv memory: 1500ms
	exec 4<>"/dev/tcp/127.0.0.1/$port" 5<>"/dev/tcp/127.0.0.1/$port" \
		6<>"/dev/tcp/127.0.0.1/$port"
	printf '1\npay\n' >&4
	expect out 'order 1: paid'
	printf '2\n' >&5
	exec 5>&- # the customer is gone, the order is not
	expect out 'order 2: not paid in time, cancelled'
	printf '%080d\n' 0 >&6
	[[ -z $(cat <&6 2>/dev/null) ]] || die "a line that is far too long is answered"
	exec 6>&-
	stopped # with a connection that is open
	exec 4>&-
	[[ $(wc -l <out) == 3 ]] || die "3 lines are expected"
}

# One file of orders, whichever loop the program is on.
killed_embedded_case()
{
	start_embedded embed_epoll sqlite:orders.db 2s
	exec 4<>"/dev/udp/127.0.0.1/$port"
	ask 'order 1' 'done'
	ask 'order 2' 'done'
	ask 'pay 1' 'done'
	exec 4>&-
	killed
	mkfifo input
	"$bin/embed_libev" sqlite:orders.db <input >out 2>>errors &
	pid=$!
	exec 3>input
	expect out 'order 2: not paid in time, cancelled'
	stopped
	exec 3>&-
	[[ $(wc -l <out) == 1 ]] || die "one order was to be cancelled"
}

# start_service STORE PATIENCE: in the background; say is its input, out its output.
start_service()
{
	[[ -p input ]] || mkfifo input
	"$bin/order_service" "$1" "$2" <input >>out 2>>errors &
	pid=$!
	exec 3>input
}

# take_order CUSTOMER: its number is in order.
take_order()
{
	local lines
	lines=$(wc -l <out)
	say "order $1"
	expect_lines out "$((lines + 1))"
	order=$(sed -n '$s/: waits for the payment$//p' out)
	[[ -n $order ]] || die "the order of $1 is not taken"
}

# ended: the end of the input ends it, and well.
ended()
{
	exec 3>&-
	wait "$pid" || die "order_service failed"
	pid=
	[[ ! -s errors ]] || die "$(cat errors)"
}

service_case()
{
	: >out
	start_service memory: 2s
	take_order Ada
	say "pay $order" "pay nobody" refund
	expect out "$order: paid"
	expect out 'nobody: money back'
	expect out 'say: order CUSTOMER or pay ORDER'
	take_order Bob
	expect out "mail:$order (Bob): please pay"
	expect out "$order (Bob): not paid in time, cancelled"
	ended
	[[ $(wc -l <out) == 7 ]] || die "7 lines are expected"
}

killed_service_case()
{
	: >out
	start_service sqlite:orders.db 2s
	take_order Ada
	killed
	exec 3>&-
	start_service sqlite:orders.db 2s
	expect out "mail:$order (Ada): please pay"
	expect out "$order (Ada): not paid in time, cancelled"
	ended
}

test_order_service_case()
{
	timeout 60 "$bin/test_order_service" >out 2>&1 || die "test_order_service failed"
}

start_redis()
{
	redis_start "$work" --appendonly yes --appendfsync always || die "no redis-server"
}

# The program is killed, then the server below it.
redis_reminders_case()
{
	local store=unix://$work/socket
	start_redis
	start_reminders out1 --speed 500000
	expect_lines out1 25
	killed
	start_reminders out2
	expect_lines out2 25
	redis_kill
	start_redis
	wait "$pid" || die "the reminders failed"
	pid=
	check --redis "$timetable" out1 out2
	redis_kill
}

# Two services, each with its own orders, in one server.
redis_orders_case()
{
	start_redis
	start_orders --store "redis://127.0.0.1:$redis_port" --timeout 2s
	say 'order 1' 'order 2' 'pay 2'
	expect out 'order 2: paid'
	"$bin/embed_libev" "unix://$work/socket" 1s others <<<'order 1' 2>>errors ||
		die "embed_libev failed"
	refused 1 'the namespace orders is owned by' "$bin/order_timeout" \
		--store "unix://$work/socket"
	expect out 'order 1: not paid in time, cancelled'
	killed
	exec 3>&-
	start_orders --store "redis://127.0.0.1:$redis_port" --name others
	expect_lines out 5
	say quit
	wait "$pid" || die "order_timeout failed"
	pid=
	[[ $(grep -c '^order \(order:\)\?1: not paid' out) == 2 ]] || # embed_libev's ids differ
		die "two orders were to be cancelled"
	[[ $(grep -c 'not paid' out) == 2 ]] || die "a paid order was cancelled"
	redis_kill
}

# Redis is away for some seconds: orders and payments go on, over a kill of the program, too.
journal_orders_case()
{
	local id orders=(--store "unix://$work/socket" --journal "$work/orders.journal")
	start_redis
	start_orders "${orders[@]}" --timeout 3s
	say 'order 1' 'order 2'
	expect out 'order 2: waiting for payment'
	redis_kill
	expect out 'redis: away'
	say 'order 3' 'order 4' 'pay 1' 'pay 3'
	for id in 3 4; do
		expect out "order $id: waiting for payment (in the journal)"
	done
	for id in 1 3; do
		expect out "order $id: paid (in the journal)"
	done
	killed
	exec 3>&-
	start_redis
	start_orders "${orders[@]}"
	expect out 'redis: back, and has the journal'
	for id in 2 4; do
		expect out "order $id: not paid in time, cancelled"
	done
	say 'pay 1' quit
	wait "$pid" || die "order_timeout failed"
	pid=
	grep -qxF 'order 1: not waiting for payment; money back' out || die "order 1 was left"
	[[ $(grep -c 'cancelled$' out) == 2 ]] || die "a paid order was cancelled"
	redis_kill
}

# behaviour URL: the events add up, and the batch of the consumer that is killed comes back.
behaviour()
{
	local tries=0 && : >out
	until tail -n 1 out | grep -qE '^6000 events in [0-9]+ .*, [1-9][0-9]* taken again,'; do
		((tries++ < 5)) || die "nothing came back: $(tail -n 1 out)"
		timeout 300 "$bin/behaviour_report" --store "$1" --events 2000 --seconds 3 --kill \
			>out 2>err || die "it exits $?: $(cat out err)"
	done
}

behaviour_case()
{
	behaviour "sqlite:$PWD/b.db"
}

redis_behaviour_case()
{
	start_redis
	behaviour "unix://$work/socket"
	redis_kill
}

hello_case()
{
	"$bin/hello" >out
	expect out 'order:42 was not paid in time: cancelled'
}

# Killed and started again, the rules go on.
heartbeat_case()
{
	"$bin/heartbeat" sqlite:heartbeat.db 0 >out &
	pid=$!
	expect_lines out 2
	killed
	sleep 4
	local begun=$EPOCHREALTIME
	"$bin/heartbeat" sqlite:heartbeat.db 3 >out2
	((${EPOCHREALTIME/./} - ${begun/./} >= 3000000)) || die "3 seconds were over too soon"
	awk -F '[ (]+' '{ beats += $1; missed += $3 }
		END { exit !(beats > 100 && beats <= 5000 && missed >= 2000) }' out2 ||
		die "the beats of the pause were not missed"
	refused 2 'usage: heartbeat ' "$bin/heartbeat" --help
	refused 2 'usage: heartbeat ' "$bin/heartbeat" sqlite:heartbeat.db 3x
}

# README's first program is the example, to the letter.
readme_case()
{
	awk '/^```c$/ { inside = !seen++; next } /^```$/ { inside = 0 } inside' \
		"$root/README.md" >readme.c
	sed '1,/\*\/$/d' "$root/examples/hello.c" | diff readme.c - ||
		die "README.md shows another program than examples/hello.c"
}

for name; do
	"${name}_case"
	echo "examples: $name passed"
done

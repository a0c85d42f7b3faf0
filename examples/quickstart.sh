#!/usr/bin/env bash
# From nothing to a proof: installs what is missing (Debian 12), builds, starts the reminders of a
# real exam term, kills them in the middle with kill -9, starts them again, and checks that nobody
# was forgotten. At the end there is a small store to try the command with.
#
#	examples/quickstart.sh              in a SQLite file
#	examples/quickstart.sh --redis      in a redis-server of its own, which is killed, too; and
#	                                    orders are placed and paid while it is away
#	examples/quickstart.sh --queue      20 games, 10,000 events a second, and a consumer that
#	                                    is killed with a batch in its hands; in Redis
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
build=$root/build/quickstart
timetable=$here/aqa-gcse-2023.csv
speed=300000 # the term of 37 days in 11 seconds
# shellcheck source=tests/support/redis_server.sh
. "$root/tests/support/redis_server.sh"

die()
{
	echo "quickstart: $*" >&2
	exit 1
}

# quietly WHAT COMMAND...: its last line is shown every 4 s, all of its end only when it fails.
quietly()
{
	local job began=$SECONDS told=$SECONDS
	echo "$1"
	"${@:2}" >"$work/log" 2>&1 </dev/null &
	job=$!
	while kill -0 "$job" 2>/dev/null; do
		sleep 0.1
		[[ $((SECONDS - told)) -ge 4 ]] || continue
		told=$SECONDS
		echo "   ... $((told - began)) s: $(tail -n 1 "$work/log" | cut -c 1-70)"
	done
	wait "$job" || {
		tail -n 30 "$work/log" >&2
		die "failed: $1"
	}
}

build_all()
{
	cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DDW_BUILD_TESTS=OFF &&
		cmake --build "$build" -j "$(nproc)"
}

# start_redis: a confirmation means that it is on the disk.
start_redis()
{
	redis_start "$work/redis" --appendonly yes --appendfsync always ||
		die "redis-server does not start"
}

# remind OUTPUT: starts the reminders in the background; $pid is theirs.
remind()
{
	: >"$1"
	"$build/examples/exam_reminders" --store "$store" --speed "$speed" \
		--until-idle "$timetable" >"$1" 2>>"$work/errors" </dev/null &
	pid=$!
}

# lines FILE: how many reminders it has.
lines()
{
	wc -l <"$1"
}

wait_for_lines()
{
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		[[ $(lines "$1") -lt $2 ]] || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	cat "$work/errors" >&2
	die "the reminders stopped after $(lines "$1") lines"
}

wait_for_end()
{
	local tries
	for ((tries = 0; tries < 1200; tries++)); do
		if ! kill -0 "$pid" 2>/dev/null; then
			wait "$pid" && return 0
			break
		fi
		sleep 0.05
	done
	cat "$work/errors" >&2
	die "the reminders did not come to their end"
}

# kill_redis: kill -9, and at once a new one, which finds what the old one has confirmed.
kill_redis()
{
	wait_for_lines "$1" "$2"
	redis_kill
	start_redis
	echo "   kill -9 of redis-server after $(lines "$1") reminders more; it is started again"
}

# wait_for LINE: the orders' output has it.
wait_for()
{
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		! grep -qxF -- "$1" "$work/orders" || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	cat "$work/orders" "$work/errors" >&2
	die "order_timeout does not say \"$1\""
}

# take_orders: with a journal, while Redis is away for some seconds.
take_orders()
{
	mkfifo "$work/commands"
	"$build/examples/order_timeout" --store "$store" --journal "$work/orders.journal" \
		--timeout 3s <"$work/commands" >"$work/orders" 2>>"$work/errors" &
	pid=$!
	exec 3>"$work/commands"
	printf '%s\n' 'order 1' 'order 2' >&3
	wait_for 'order 1: waiting for payment'
	wait_for 'order 2: waiting for payment'
	redis_kill
	echo "   kill -9 of redis-server, after two orders; pay 1, order 3, order 4, pay 3"
	wait_for 'redis: away'
	printf '%s\n' 'pay 1' 'order 3' 'order 4' 'pay 3' >&3
	wait_for 'order 1: paid (in the journal)'
	wait_for 'order 3: paid (in the journal)'
	sleep 3
	echo "   start redis-server again, after three seconds"
	start_redis
	wait_for 'order 2: not paid in time, cancelled'
	wait_for 'order 4: not paid in time, cancelled'
	printf '%s\n' quit >&3
	wait "$pid" || die "order_timeout failed"
	pid=
	sed 's/^/      /' "$work/orders"
	[[ $(grep -c 'cancelled$' "$work/orders") == 2 ]] || die "a paid order was cancelled"
}

# list_days: the same term in March. $work/days gets the lists, $work/seen a line for each day.
list_days()
{
	local count
	"$build/examples/exam_reminders" --daily --store "sqlite:$work/days.db" \
		--from 2028-03-06T00:00:00Z --until 2028-04-12T12:00:00Z --begins 2028-03-06 \
		--speed "$speed" "$timetable" >"$work/days" || die "the lists failed"
	grep -A 1 '^2028-03-2[47]' "$work/days" | grep -v '^--' | cut -c 1-88 | sed 's/^/      /'
	grep '^2028' "$work/days" >"$work/seen"
	count=$(grep -c ' 08:00 +0[01]:00 ' "$work/seen")
	[[ $count == 28 && $(lines "$work/seen") == 28 ]] || die "a day has not one list, at 08:00"
	[[ $(grep -c '^ ' "$work/days") == "$papers" ]] || die "an exam is in no list"
}

# report_events: the program says by itself whether the events add up.
report_events()
{
	echo "3. Report 10,000 events a second of 20 games for 5 s, kill -9 of a consumer"
	"$build/examples/behaviour_report" --store "$store" --kill >"$work/report" ||
		die "$(cat "$work/report")"
	sed 's/^/      /' "$work/report" | fold -s -w 96
	echo "Proved: no event is lost or too old, no batch mixes games, and no game waits for the"
	echo "hot one. What the consumer had taken came back, and was reported by another one."
}

# try_now: a store of its own, and three commands for it, as they are typed here.
try_now()
{
	local tool=build/quickstart/durawheel file=build/quickstart/try.db
	cd "$root"
	rm -f "$file"*
	"$tool" add --id order:42 --topic order.timeout --in 30m \
		--store "sqlite:$file" >/dev/null
	"$tool" add --id exams --topic exams.today --cron '0 8 * * 1-5' --zone Europe/London \
		--store "sqlite:$file" >/dev/null
	echo
	echo "Now you. In $file are an order and a list of each weekday:"
	echo "   export PATH=\"\$PWD/build/quickstart:\$PATH\" DURAWHEEL_STORE=sqlite:$file"
	echo "   durawheel list"
	echo "   durawheel add --topic tea --in 5s"
	echo "   durawheel run --topic tea --exec date # Ctrl-C ends it"
	echo "   durawheel serve                       # and open http://127.0.0.1:8990/"
}

case $* in
'') redis= ;;
--redis | --queue) redis=yes ;;
*)
	echo "usage: examples/quickstart.sh [--redis | --queue]" >&2
	exit 2
	;;
esac
work=$(mktemp -d)
pid=
trap '[[ -z $pid ]] || kill -9 "$pid" 2>/dev/null || true; redis_kill; rm -rf "$work"' EXIT

quietly "1. Install what is missing, with apt-get (a minute)" \
	"$root/tests/support/install.sh" build ${redis:+redis}
quietly "2. Build the library, the command and the examples (build/quickstart)" build_all

papers=$(($(lines "$timetable") - 1))
if [[ $redis ]]; then
	mkdir "$work/redis"
	start_redis
	store=unix://$work/redis/socket
	place="a redis-server (appendonly yes, appendfsync always)"
else
	store=sqlite:$work/exams.db
	place="a SQLite file"
fi
[[ $* != --queue ]] || {
	report_events
	try_now
	exit
}
echo "3. Remind of $papers exams, 37 days in 11 seconds, timers in $place"
remind "$work/first"
wait_for_lines "$work/first" 50
{ kill -9 "$pid" && wait "$pid"; } 2>/dev/null || true
sed -n '1,3p' "$work/first" | sed 's/^/      /'
echo "   kill -9 after $(lines "$work/first") reminders; for a second nobody is there; start again"
sleep 1
remind "$work/second"
[[ ! $redis ]] || kill_redis "$work/second" 25
wait_for_end
pid=
sed -n '1,3p' "$work/second" | sed 's/^/      /'
echo "      ..."

echo "4. Check both outputs"
"$root/tests/support/check_reminders.sh" ${redis:+--redis} \
	"$timetable" "$work/first" "$work/second" ||
	die "a promise was broken, see above"
if [[ $redis ]]; then
	echo "Proved: after a kill -9 of the program and one of its redis-server in the middle of"
	echo "the term, each of $papers reminders was given, none before its time, and those that"
	echo "were not late in the order of the exams. The program lived through the second kill:"
	echo "it connected again and went on."
	echo "5. Take orders, which are to be paid in 3 s, while Redis is away"
	take_orders
	echo "Proved: orders and payments of the outage are kept. The two paid orders stay, and the"
	echo "two others are cancelled when Redis is back."
else
	echo "Proved: after a kill -9 in the middle of the term and a restart, each of $papers"
	echo "reminders was given, in the order of the exams, none before its time."
	echo "5. List each weekday's exams at 08:00 in London, as if the term began on 6 March 2028"
	list_days
	echo "Proved: one recurring timer listed 28 days, each at 08:00 by the clocks in London:"
	echo "until 24 March that was 08:00 UTC, from 27 March on 07:00 UTC."
fi
try_now

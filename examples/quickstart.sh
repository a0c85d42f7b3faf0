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
#	examples/quickstart.sh --cluster    three peers, in a Redis Cluster of three masters and
#	                                    three replicas; a master and a peer are killed
#
# Behind these, and '' for none, a folder may be named: its build is used, and nothing installed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
build=$root/build/quickstart
timetable=$here/aqa-gcse-2023.csv
speed=300000 # the term of 37 days in 11 seconds
# shellcheck source=tests/support/redis_server.sh
. "$root/tests/support/redis_server.sh"
# shellcheck source=tests/support/redis_cluster.sh
. "$root/tests/support/redis_cluster.sh"

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
	[[ $build == "$root/build/quickstart" ]] || return 0
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

# ---- A cluster ----

# add_peer WHO: one more that shares the reminders; its output is $work/WHO.
add_peer()
{
	: >"$work/$1"
	: >"$work/$1.errors"
	"$build/examples/exam_reminders" --store "$store" --speed "$speed" --peer "$timetable" \
		>"$work/$1" 2>"$work/$1.errors" </dev/null &
	peer[$1]=$!
}

# await SECONDS WHAT COMMAND...: until it succeeds.
await()
{
	local end=$((SECONDS + $1))
	until "${@:3}"; do
		[[ $SECONDS -lt $end ]] || die "not in $1 s: $2"
		sleep 0.05
	done
}

members()
{
	"$build/durawheel" --store "$store" --name exams members "$@" 2>"$work/members.errors"
}

# is_shared COUNT: so many peers, none with two shards more than another, have all 16.
is_shared()
{
	members --json | sed 's/"nodes":.*//' | grep -o '"shards":\[[0-9,]*\]' |
		awk -F '[][]' -v count="$1" '
		{ all += own = split($2, numbers, ",") }
		NR == 1 || own < least { least = own }
		own > most { most = own }
		END { exit !(NR == count && all == 16 && most - least <= 1) }'
}

# given: the papers that were reminded of, a line for each reminder.
given()
{
	sed 's/   *-*[0-9.]* ms after its time.*$//' "$work"/{one,two,three}
}

is_given()
{
	[[ $(given | sort -u | wc -l) -ge $1 ]]
}

is_replaced()
{
	! cluster_masters 0 | grep -qx "${cluster_ports[1]}"
}

# late: how many reminders came more than 100 ms after their time, and the latest of all.
late()
{
	sed -n 's/.* \([0-9.]*\) ms after its time.*/\1/p' "$work"/{one,two,three} | awk '
		{ count += $1 > 100 }
		$1 > latest { latest = $1 }
		END { printf "%d came more than 100 ms after their time, at most %.1f s", count,
			latest / 1000 }'
}

# since TIME: the seconds since then, with one digit.
since()
{
	awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'
}

# remind_in_cluster: see the head of this file.
remind_in_cluster()
{
	local began twice replaced who
	echo "3. Start three masters and three replicas"
	cluster_start "$work/cluster" || die "the cluster does not start"
	store="redis+cluster://127.0.0.1:${cluster_ports[0]},127.0.0.1:${cluster_ports[1]}"
	speed=160000 # 37 days in 20 seconds
	echo "4. Remind of $papers exams, 37 days in 20 seconds, by three peers"
	add_peer one
	await 60 "the timetable is stored" grep -q 'is stored' "$work/one.errors"
	add_peer two
	add_peer three
	await 60 "three peers share the shards" is_shared 3
	members | sed 's/^/      /'
	await 60 "reminders" is_given $((papers / 4))
	began=$EPOCHREALTIME
	cluster_end 1
	{ kill -9 "${peer[two]}" && wait "${peer[two]}"; } 2>/dev/null || true
	unset 'peer[two]'
	echo "   kill -9 of a master and of a peer after $(given | wc -l) reminders"
	await 60 "a replica takes its place" is_replaced
	replaced=$(since "$began")
	await 60 "two peers share the shards" is_shared 2
	echo "   $replaced s later a replica has its place; $(since "$began") s after the kill" \
		"two peers have all shards"
	await 120 "all reminders" is_given "$papers"
	for who in one three; do
		kill "${peer[$who]}"
		wait "${peer[$who]}" || die "peer $who did not end well"
		unset "peer[$who]"
	done
	echo "5. Check what they have written"
	"$root/tests/support/check_reminders.sh" --cluster "$timetable" \
		"$work"/{one,two,three} >"$work/checked" ||
		die "a promise was broken: $(cat "$work/checked")"
	twice=$(given | sort | uniq -d | wc -l)
	echo "Proved: of $papers reminders, $((papers - twice)) were given once, $twice twice," \
		"and 0 lost; 0 before"
	echo "their time. What is given twice was under way at a kill. Of all,"
	echo "$(late): so long"
	echo "their shard had no master or no owner. The timers of the other masters went on."
}

declare -A peer=()
case $#${1-} in
0 | 2) redis= ;;
[12]--redis | [12]--queue | [12]--cluster) redis=yes ;;
*)
	echo "usage: examples/quickstart.sh [--redis | --queue | --cluster [BUILD]]" >&2
	exit 2
	;;
esac
work=$(mktemp -d)
pid=
tidy()
{
	local one
	for one in $pid "${peer[@]}"; do
		kill -9 "$one" 2>/dev/null || true
	done
	redis_kill
	cluster_kill
	rm -rf "$work"
}
trap tidy EXIT

if [[ $# == 2 ]]; then
	build=$(cd "$2" && pwd)
else
	quietly "1. Install what is missing, with apt-get (a minute)" \
		"$root/tests/support/install.sh" build ${redis:+redis}
	quietly "2. Build the library, the command and the examples (build/quickstart)" build_all
fi

papers=$(($(lines "$timetable") - 1))
[[ ${1-} != --cluster ]] || {
	remind_in_cluster
	try_now
	exit
}
if [[ $redis ]]; then
	mkdir "$work/redis"
	start_redis
	store=unix://$work/redis/socket
	place="a redis-server (appendonly yes, appendfsync always)"
else
	store=sqlite:$work/exams.db
	place="a SQLite file"
fi
[[ ${1-} != --queue ]] || {
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

#!/usr/bin/env bash
# Three replicas of a service share the timers of one namespace. A fourth one joins, one is killed
# with kill -9, and one is stopped politely, while timers come due all the time. At the end it is
# checked that no timer was lost, and that none started twice but for the kill.
#
#	examples/replicas.sh            builds what it needs (Debian 12), in build/quickstart
#	examples/replicas.sh BUILD      uses the build in that folder
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
patience=600 # s, for whatever is waited for; a busy machine needs a minute for some
# shellcheck source=tests/support/redis_server.sh
. "$root/tests/support/redis_server.sh"

die()
{
	echo "replicas: $*" >&2
	tail -n 5 "$work"/*.errors >&2 2>/dev/null || true
	exit 1
}

# await COMMAND...: waits until it succeeds.
await()
{
	local end=$((SECONDS + patience))
	until "$@"; do
		[[ $SECONDS -lt $end ]] || die "not in time: $*"
		sleep 0.05
	done
}

now()
{
	date +%s%6N
}

# start WHO: a replica, whose lines go to $work/WHO.lines.
start()
{
	"$build/examples/replica" "$store" "$1" >"$work/$1.lines" 2>"$work/$1.errors" &
	pid[$1]=$!
}

members()
{
	"$build/durawheel" --store "$store" --name replicas members "$@"
}

# shares: how many shards each member has, the fewest first.
shares()
{
	members --json 2>/dev/null | grep -o '"shards":\[[0-9,]*\]' |
		awk -F '[][]' '{ print split($2, numbers, ",") }' | sort -n
}

# is_even COUNT: so many members, none with two shards more than another, have all 16.
is_even()
{
	shares | awk -v count="$1" '
		NR == 1 { least = $1 }
		{ all += $1; most = $1 }
		END { exit !(NR == count && all == 16 && most - least <= 1) }'
}

# fires COUNT: from now on so many timers more start.
fires()
{
	local before
	before=$(started)
	await has_started $((before + $1))
}

started()
{
	cat "$work"/*.lines | grep -c '^start ' || true
}

has_started()
{
	[[ $(started) -ge $1 ]]
}

# lost: the timers that were put, and neither cancelled nor started. A cancel without an answer may
# have been done: the replica was killed, or the owner of the shard.
lost()
{
	awk '$1 == "put" { put[$3] }
	     $1 == "cancels" { cancels[$3] }
	     $1 == "kept" { kept[$3] }
	     $1 == "start" { over[$3] }
	     END {
		for (id in put)
			if (!(id in over) && (!(id in cancels) || id in kept))
				print id
	     }' "$work"/*.lines
}

is_nothing_lost()
{
	[[ -z $(lost) ]]
}

# twice: the timers that started more than once. wrong: those of them of which no start was one of
# the killed replica, and the timers that started although they were cancelled.
twice()
{
	awk '$1 == "start" && count[$3]++ == 1 { print $3 }' "$work"/*.lines
}

wrong()
{
	awk '$1 == "start" { count[$3]++; of_killed[$3] += $2 == "two" }
	     $1 == "cancelled" { cancelled[$3] }
	     END {
		for (id in count)
			if ((count[id] > 1 && !of_killed[id]) || id in cancelled)
				print id
	     }' "$work"/*.lines
}

# latest FROM TO: how late the latest timer was that started between these two moments, in ms.
latest()
{
	awk -v from="$1" -v to="$2" '
		$1 == "start" && $6 >= from && $6 < to && $5 > latest { latest = $5 }
		END { printf "%.1f", latest / 1000 }' "$work"/*.lines
}

# tell_each: what each replica has added and fired.
tell_each()
{
	local who
	for who in one two three four; do
		awk -v who="$who" '
			$1 == "put" { put++ }
			$1 == "start" { fired++; split($3, id, ":"); own += id[1] == who }
			$1 == "shards" { gained += $3 > before ? $3 - before : 0; before = $3 }
			END {
				printf "   %-5s added %4d timers, fired %4d", who, put, fired
				printf " (%d of its own); got %d shards\n", own, gained
			}' "$work/$who.lines"
	done
}

tidy()
{
	local who
	for who in "${!pid[@]}"; do
		kill -9 "${pid[$who]}" 2>/dev/null || true
	done
	redis_kill
	rm -rf "$work"
}

work=$(mktemp -d)
declare -A pid=()
trap tidy EXIT
case $# in
0)
	build=$root/build/quickstart
	"$root/tests/support/install.sh" build redis
	cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DDW_BUILD_TESTS=OFF
	cmake --build "$build" -j "$(nproc)"
	;;
1) build=$(cd "$1" && pwd) ;;
*)
	echo "usage: examples/replicas.sh [BUILD]" >&2
	exit 2
	;;
esac
mkdir "$work/redis"
redis_start "$work/redis" || die "redis-server does not start"
store=unix://$work/redis/socket

echo "1. Start three replicas: each adds 100 timers a second, and cancels every tenth"
for who in one two three; do
	start $who
done
await is_even 3
members | sed 's/^/      /'
three=$(now)
fires 300
echo "2. Add a fourth one"
join=$(now)
start four
await is_even 4
members | sed 's/^/      /'
fires 300
echo "3. kill -9 of replica two"
kill=$(now)
{ kill -9 "${pid[two]}" && wait "${pid[two]}"; } 2>/dev/null || true
unset 'pid[two]'
await is_even 3
members | sed 's/^/      /'
fires 300
echo "4. Stop replica three by SIGTERM"
stop=$(now)
kill "${pid[three]}"
wait "${pid[three]}" || die "replica three did not end well"
unset 'pid[three]'
await is_even 2
members | sed 's/^/      /'
fires 300

echo "5. Check what they have written"
kill -USR1 "${pid[one]}" "${pid[four]}"
await is_nothing_lost
sleep 1 # whoever would start a timer twice has the time to
end=$(now)
for who in one four; do
	kill "${pid[$who]}"
	wait "${pid[$who]}" || die "replica $who did not end well"
	unset "pid[$who]"
done
[[ -z $(wrong) ]] || die "started twice, or although they were cancelled: $(wrong | head -n 5)"
tell_each
echo "   The latest timer was late by"
echo "      $(latest "$three" "$join") ms while three shared the timers"
echo "      $(latest "$join" "$kill") ms while shards moved to the fourth one"
echo "      $(latest "$kill" "$stop") ms after the kill: so long its shards had no owner"
echo "      $(latest "$stop" "$end") ms after the stop"
echo "Proved: $(started) starts. Each timer that was stored started, and none that was cancelled."
echo "Moves, the join and the stop doubled none. The kill doubled $(twice | wc -l): what a killed"
echo "replica has started and could not settle starts again."

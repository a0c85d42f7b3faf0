#!/usr/bin/env bash
# From nothing to a proof: installs what is missing (Debian 12), builds, starts the reminders of a
# real exam term, kills them in the middle with kill -9, starts them again, and checks that nobody
# was forgotten.
#
#	examples/quickstart.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
build=$root/build/quickstart
timetable=$here/aqa-gcse-2023.csv
speed=300000 # the term of 37 days in 11 seconds

die()
{
	echo "quickstart: $*" >&2
	exit 1
}

# quietly WHAT COMMAND...: its output is shown only when it fails.
quietly()
{
	echo "$1"
	"${@:2}" >"$work/log" 2>&1 </dev/null || {
		tail -n 30 "$work/log" >&2
		die "failed: $1"
	}
}

build_all()
{
	cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDW_BUILD_TESTS=OFF &&
		cmake --build "$build"
}

# remind OUTPUT: starts the reminders in the background; $pid is theirs.
remind()
{
	: >"$1"
	"$build/examples/exam_reminders" --store "sqlite:$work/exams.db" --speed "$speed" \
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

work=$(mktemp -d)
pid=
trap '[[ -z $pid ]] || kill -9 "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

echo "1. What is needed"
"$root/tests/support/install.sh" build
quietly "2. Build the library, the command and the examples (build/quickstart)" build_all

papers=$(($(lines "$timetable") - 1))
echo "3. Remind of $papers exams, 37 days in 11 seconds, timers in a SQLite file"
remind "$work/first"
wait_for_lines "$work/first" 50
{ kill -9 "$pid" && wait "$pid"; } 2>/dev/null || true
sed -n '1,3p' "$work/first" | sed 's/^/      /'
echo "   kill -9 after $(lines "$work/first") reminders; for a second nobody is there; start again"
sleep 1
remind "$work/second"
wait_for_end
pid=
sed -n '1,3p' "$work/second" | sed 's/^/      /'
echo "      ..."

echo "4. Check both outputs"
"$root/tests/support/check_reminders.sh" "$timetable" "$work/first" "$work/second" ||
	die "a promise was broken, see above"
echo "Proved: after a kill -9 in the middle of the term and a restart, each of $papers reminders"
echo "was given, in the order of the exams, none before its time."

#!/usr/bin/env bash
# tests/cli/run.sh BUILD_DIR [NAME...]: the command from outside. Every function test_* of the
# test_*.sh beside this file is a test (or only those named); it runs in a folder of its own with a
# store of its own and fails at its first failing command. The last line is "N passed, M failed".
set -u
here=$(cd "${0%/*}" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR [NAME...]}" && pwd)
shift
PATH=$build:$PATH
unset POSIXLY_CORRECT XDG_STATE_HOME
export LC_ALL=C
patience=600 # s, for whatever is waited for; a busy machine needs a minute for some

# ---- Helpers ---------------------------------------------------------------------------------

fail() {
	echo "FAILED: $*" | head -c 500 >&2
	echo >&2
	exit 1
}

# not_tested REASON: the machine cannot run this test.
not_tested() {
	echo "NOT TESTED: $1"
	exit 77
}

# empty_store: only add, import and run make one.
empty_store() {
	expect 0 durawheel import </dev/null
}

# expect CODE COMMAND...: its output goes to the files out and err. Most tests spend their time with
# starting programs, so this and says start no further ones; ctest ends a test that hangs.
expect() {
	local wanted=$1 code=0
	shift
	"$@" >out 2>err || code=$?
	[ "$code" = "$wanted" ] && return
	echo "output:" && head -c 2000 out
	echo "errors:" && head -c 2000 err
	fail "$* exits $code, not $wanted"
}

# without_time: lines of run and serve without their time and level.
without_time() {
	sed -E 's/^[0-9]{4}-[0-9-]+T[0-9:.]+Z (info|warn|error) (durawheel: )/\2/'
}

# on_terminal STEP... -- COMMAND...: see terminal.py. What was written goes to the file screen.
on_terminal() {
	python3 -B "$here/terminal.py" "$@" >screen 2>said ||
		fail "$(cat said): $(tail -c 300 screen)"
}

# says PATTERN: the last command's message; all its messages begin with the command's name.
says() {
	local lines line time=$'(^|\n)[0-9]{4}-'
	if [[ $(<err) =~ $time ]]; then
		without_time <err >err.plain && mv err.plain err
	fi
	grep -qe "$1" err || fail "the message is '$(head -c 500 err)', not '$1'"
	mapfile -t lines <err
	for line in "${lines[@]}"; do
		[[ $line == 'durawheel: '* ]] ||
			fail "a message without a name: $(head -c 500 err)"
	done
}

prints() {
	[ "$(<out)" = "$1" ] || fail "the output is '$(head -c 500 out)', not '$1'"
}

# lacks PATTERN FILE: no line of the file is like this. ("! grep" alone ends no test.)
lacks() {
	! grep -qE -e "$1" "$2" || fail "'$1' is in $2: $(head -c 400 "$2")"
}

# await COMMAND...: waits until it succeeds, longer than any machine needs. The pauses grow from
# 0.02 to 0.16 s, because the command takes processor time, too. Where nothing is written read
# sleeps without a process.
await() {
	local end=$((SECONDS + patience)) nothing pause=2 seconds
	exec {nothing}<> <(:)
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || fail "not in time: $*"
		printf -v seconds '0.%02d' $pause
		read -rt "$seconds" -u "$nothing" || true
		pause=$((pause < 16 ? 2 * pause : 16))
	done
	exec {nothing}<&-
}

# scaled N: DW_TEST_SCALE percent of N, at least 1.
scaled() {
	local part=$(($1 * ${DW_TEST_SCALE:-100} / 100))
	echo $((part > 0 ? part : 1))
}

# of_idle SECONDS: a limit that holds on an idle machine; a busy one gets as many times longer as it
# has tasks for each processor.
of_idle() {
	local tasks
	read -r tasks _ </proc/loadavg
	echo $(($1 + $1 * ${tasks%.*} / $(nproc)))
}

# is_counted FILE N: it has N lines.
is_counted() {
	[ "$(wc -l <"$1")" = "$2" ]
}

# has_count KEY N: what stats says.
has_count() {
	durawheel stats --json | grep -q "\"$1\":$2[,}]"
}

# is_started: the owner that `start` began has loaded its timers.
is_started() {
	grep -q 'running, ' log
}

# start ARGUMENT...: an owner in the background, its lines in the file fired, its messages in log,
# its pid in $owner.
start() {
	: >log # of an earlier owner, whose words are not this one's
	durawheel run "$@" >>fired 2>log &
	owner=$!
	await is_started
}

is_gone() {
	! kill -0 "$owner" 2>/dev/null
}

# ended CODE: the process in $owner ends by itself, and so.
ended() {
	local code=0
	await is_gone
	wait "$owner" || code=$?
	owner=
	[ "$code" = "$1" ] || fail "it exits $code, not $1: $(head -c 300 log)"
}

# stop_owner [SIGNAL]: it ends with exit code 0.
stop_owner() {
	kill -"${1:-TERM}" "$owner"
	ended 0
}

# kill_owner: as a crash would.
kill_owner() {
	kill -KILL "$owner"
	wait "$owner" || true
	owner=
}

# ids_of FILE: the ids of its lines in their order.
ids_of() {
	sed 's/^{"id":"\([^"]*\)".*/\1/' "$1"
}

# many N [SUFFIX]: lines to import, ids 000001 and on, due in this order and long ago.
many() {
	awk -v n="$1" -v data="${2-}" 'BEGIN {
		for (i = 1; i <= n; i++)
			printf "{\"id\":\"%06d\",\"topic\":\"t\",\"data\":\"%s\"," \
			       "\"at\":\"2020-01-01T00:00:%02d.%06dZ\"}\n",
			       i, data, int(i / 1000000), i % 1000000
	}'
}

# text N: that many letters.
text() {
	head -c "$1" /dev/zero | tr '\0' x
}

# ---- The tests -------------------------------------------------------------------------------

for file in "$here"/test_*.sh; do
	# shellcheck source=/dev/null
	. "$file"
done

declare -A peers=() # of test_redis_peers.sh

tidy() {
	[ -z "${owner-}" ] || kill -KILL "$owner" 2>/dev/null || true
	[ -z "${standby-}" ] || kill -KILL "$standby" 2>/dev/null || true
	for name in "${!peers[@]}"; do
		kill -KILL "${peers[$name]}" 2>/dev/null || true
	done
	redis_kill
}

run_one() {
	local dir code
	dir=$(mktemp -d) || exit 1
	(
		cd "$dir" || exit 1
		export HOME=$dir DURAWHEEL_STORE=sqlite:$dir/timers.db
		trap tidy EXIT
		set -e
		"$1"
	) >"$dir.log" 2>&1
	code=$?
	grep 'NOT TESTED' "$dir.log" # all of the test, or a part
	if [ $code = 0 ] || [ $code = 77 ]; then
		passed=$((passed + (code == 0)))
		skipped=$((skipped + (code == 77)))
		rm -rf "$dir" "$dir.log"
	else
		failed=$((failed + 1))
		echo "--- $1 failed; its folder is $dir"
		tail -n 20 "$dir.log" | cut -c 1-500
	fi
}

passed=0
skipped=0
failed=0
if [ $# = 0 ]; then
	mapfile -t names < <(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p')
else
	names=("$@")
fi
for name in "${names[@]}"; do
	run_one "$name"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] || exit 1
[ "$passed" -gt 0 ] || [ "$skipped" = 0 ] || exit 77

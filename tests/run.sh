#!/usr/bin/env bash
# Every test of durawheel, from nothing.
#
#	tests/run.sh            installs what is missing (Debian 12), builds with warnings as
#	                        errors and runs the short series: as it is, under the
#	                        sanitizers, optimized, without SQLite, as packages; about
#	                        15 minutes on 2 idle cores
#	tests/run.sh --quick    one build and its tests
#	tests/run.sh --all      every test in every build that can run it, and the long series:
#	                        the tests that slow.txt calls long, more seeds, more kills,
#	                        valgrind, MemorySanitizer, the benchmarks, arm64 under qemu-user,
#	                        musl; about two and a half hours
#	tests/run.sh --all STEP...  only these steps of it
#
# All builds are in build/tests. Each step says how it ended and how long it took; of a step that
# failed the last lines are shown, its whole output is in build/tests/STEP.log; what each failed
# test said is repeated at the end. The last line is "N passed, N failed": the tests of each build,
# and the steps that are no tests one each. Exit 1 if anything failed.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
builds=$root/build/tests
jobs=$(nproc)
# gold links the tests in half the time of the usual linker, which links the library.
options_of_all=(-G Ninja -DDW_WERROR=ON)
! command -v ld.gold >/dev/null || options_of_all+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold)
# The library is what release optimizes as its users do, and the tests' own code only a little.
# packages has the build afterwards, without tests: so the next run sets back what it was.
release=(-DDW_TEST_OPTIONS=-O1 -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG'
	-DDW_BUILD_TESTS=ON -DDW_BUILD_EXAMPLES=ON -DCMAKE_INSTALL_PREFIX=/usr/local)
# Lines are all that a report shows, and built sooner. C++ and the tests' own code take minutes with
# an optimization and sanitizers.
sanitizer=(-DCMAKE_C_FLAGS_RELWITHDEBINFO='-O1 -g1' -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O0 -g1'
	-DDW_TEST_OPTIONS=-O0)
no_stores=(-DDW_WITH_SQLITE=OFF -DDW_WITH_REDIS=OFF -DDW_WITH_HTTP=OFF)
plain=() # for tsan
tests_at_once=$((5 * jobs)) # most of them wait for a deadline or an answer
passed=0
failed=0

# ---- What each build runs ------------------------------------------------------------------
# A test runs in the short series, or tests/slow.txt calls it long; the step `series` checks that. A
# build runs what can differ in it. NAME_scale is the percentage of the random operations.
all_builds=(debug asan release tsan no_sqlite)

short_series()
{
	# debug: what starts programs: the command, the examples, the lint, the crashes. The unit
	# tests are left out, because asan runs the same code and sees more. The simulator is left
	# out, because release answers it faster.
	debug_scale=30
	debug_tests=(-LE '^long$' -E '^(sim(_|$)|test_)')

	# asan: the unit tests, the simulator, the server against hostile requests, and of the
	# command what reads bytes of others, and one test of each larger part. An ASan program
	# takes nine times as long to start. Four unit tests that take long are left out, because
	# release or tsan runs them.
	asan_scale=4
	asan_tests=(-LE '^long$' -R "^(test_|exceptions_|http_attack_|sim|cli_($asan_command)\$)"
		-E 'selftest|sim_usage|test_(contract_sqlite|locales|redis_shape|wheel_memory)$')

	# release: what depends on optimization or has many random operations: the simulator, the
	# contract of stores, the wheel, the calendar, what reads damaged bytes, and how many
	# instructions a timer costs.
	release_scale=30
	release_tests=(-LE '^long$' -R "^(sim|bench_path|test_($many_operations)\$)")

	# tsan: what has threads: workers, calls of other threads, the SQLite store, journals, the
	# connection to Redis.
	tsan_scale=10
	tsan_tests=(-LE '^long$' -R "^(exceptions_|test_($threads)\$)")

	# no_sqlite: what asks for the missing stores, and what is installed.
	no_sqlite_tests=(-R "^(test_($without_stores)|consumer_(pkgconfig|readme))\$")
}

asan_command='config_that_is_(hostile|mutated).*|dead_list_has_pages_and_topics'
asan_command+='|top_shows_hostile_names|names_do_not_turn_the_text|copy_.*_is_the_same'
asan_command+='|a_damaged_timer_is_told_and_can_be_cancelled|completion_offers_commands'
asan_command+='|add_same_rule_keeps_its_occurrence|ended_is_told_of_each_kind'
asan_command+='|list_has_as_many_pages_as_needed|why_a_closed_stderr_ends_no_run'
asan_command+='|work_runs_a_command_for_each_batch|topic_set_changes_what_it_names'
many_operations='contract_(memory|table|sqlite)|wheel.*|calendar_.*|state_table'
many_operations+='|crashes_sqlite|sqlite_flips|redis_(keyspace|scripts|reply|shape)'
threads='bulk|close_sqlite|contract_sqlite|crowds|fork|identity|locales|metrics_sqlite|modes|order'
threads+='|journal_(disk_sqlite|fire|hold|merge|parts|takeover)|out_of_memory_(calls|restart)'
threads+='|posted_max|queue_answers|queues_sqlite_redis|redis_link(_server)?|rules'
threads+='|sqlite_(existing|index|locker|messages|mount|reads)|standby_sqlite'
threads+='|store_sqlite(_files|_full|_gone|_log|_share|_wake)?|testing'
threads+='|threads(_ends)?|topics|workers(_restart)?'
without_stores='api|modes|crowds|out_of_memory.*|contract_memory'

# valgrind, in --all: what waits for a redis-server mostly, and has limits to that, is left out, and
# what is very many of the same. ASan sees them.
not_slowly='dead_limit|contract_redis|calendar_oracle|crashes_sqlite|journal_cut'
not_slowly+='|redis_(link_server|scripts|commands|ousted|layout|one|open|out|set_back)'
not_slowly+='|redis_(shape|tls)'

# quick_series: debug is the only build.
quick_series()
{
	debug_tests=(-LE '^long$' -E '^sim(_|$)')
}

# whole_series: --all leaves out only what a build cannot run or has no reason to: what has one
# thread tells tsan nothing, and tsan does not support a test that forks beside a thread.
whole_series()
{
	debug_scale=100
	debug_tests=(-E '^sim(_|$)')
	asan_scale=12
	asan_tests=(-LE 'lint|abi|consumer|crash' -E 'cli_(redis|exec|import|run)|selftest')
	release_tests=(-LE 'lint|abi|cli|consumer|crash|http')
	tsan_alone='wheel|state_table|crash_(redis|cancel)|replay_killed'
	tsan_alone+='|redis_(scripts|layout|one|open|ou|gather|reply)'
	tsan_alone+='|test_(api_drive|bad_.*|calendar_.*|contract_(memory|table)|crashes_sqlite|crc'
	tsan_alone+='|dead(_limit)?|engine_.*|rule|store_sqlite_damage'
	tsan_alone+='|history|loop|record|rng|standby|usec|utf8|when|whole)$'
	tsan_tests=(-LE 'lint|abi|consumer|cli|http|sim' -E "$tsan_alone")
	no_sqlite_tests=(-LE 'lint|cli|crash')
}

# names_of NAME [CTEST-OPTION...]: those tests of build/tests/NAME.
names_of()
{
	ctest --test-dir "$builds/$1" -N "${@:2}" | sed -n 's/^ *Test *#[0-9]*: //p'
}

# chosen: lines "BUILD TEST", what each build runs.
chosen()
{
	local name
	for name in "${all_builds[@]}"; do
		local -n tests_of=${name}_tests
		names_of "$name" "${tests_of[@]}" | sed "s/^/$name /"
	done | sort
}

# series: no test is in neither series, --all runs all that the short series runs, and slow.txt
# names tests.
series()
{
	local all long short whole
	all=$(for name in "${all_builds[@]}"; do names_of "$name"; done | sort -u)
	long=$(for name in "${all_builds[@]}"; do names_of "$name" -L '^long$'; done | sort -u)
	short=$(short_series && chosen)
	whole=$(short_series && whole_series && chosen)
	{
		{ echo "$long" && cut -d ' ' -f 2 <<<"$short"; } | sort -u |
			comm -13 - <(echo "$all") |
			sed 's/$/: runs in no build, and is not long in slow.txt/'
		cut -d ' ' -f 2 <<<"$whole" | sort -u | comm -13 - <(echo "$all") |
			sed 's/$/: --all does not run it/'
		comm -23 <(echo "$short") <(echo "$whole") | sed 's/$/: --all does not run it/'
		grep -o '^[a-z][a-z_0-9]*' "$root/tests/slow.txt" | sort |
			comm -23 - <(echo "$all") | sed 's/$/: stands in slow.txt, and is no test/'
	} >"$builds/series"
	cat "$builds/series"
	[[ -s $builds/series ]] && return 1
	echo "$(wc -l <<<"$all") tests, $(wc -w <<<"$long") of them long"
}

# ---- How they are run ----------------------------------------------------------------------

usage()
{
	sed -n '2,/^set/ { /^#/ s/^# \{0,1\}//p }' "$0"
}

# count_results LOG STATUS: adds what a step did to the sums. A step with tests counts each of them.
count_results()
{
	local tests bad
	read -r tests bad < <(awk '
		/tests passed, .* tests failed out of/ { tests += $NF; bad += $4 }
		END { print tests + 0, bad + 0 }' "$1")
	if [[ $tests == 0 || ($2 != 0 && $bad == 0) ]]; then
		tests=$((tests + 1))
		[[ $2 == 0 ]] || bad=$((bad + 1))
	fi
	passed=$((passed + tests - bad))
	failed=$((failed + bad))
}

# failed_tests LOG: the result and the last lines of each test that failed; ctest shows its output
# behind its result.
failed_tests()
{
	awk -v most=12 '
		function tell(    i) {
			if (name)
				print name
			for (i = count > most ? count - most : 0; i < count; i++)
				print "    " lines[i]
			name = ""
			count = 0
		}
		/^ *([0-9]+\/[0-9]+ Test +#|Start +[0-9]+:|[0-9]+% tests passed)/ { tell() }
		/^ *[0-9]+\/[0-9]+ Test .*\*\*\*/ { name = $0; next }
		name && NF { lines[count++] = $0 }
		END { tell() }' "$1"
}

# tell_progress NAME LOG: says each minute how far a step is: its last test, or its last line.
tell_progress()
{
	local minutes=0 nothing
	exec {nothing}<> <(:)
	while true; do
		read -rt 60 -u "$nothing" || true # sleeps without a process
		minutes=$((minutes + 1))
		printf '%-10s %3d min: %s\n' "$1" "$minutes" "$(tail -n 1 "$2" | cut -c 1-70)"
	done
}

# step NAME COMMAND...: runs it, says how it ended and counts.
step()
{
	local name=$1 log=$builds/$1.log start=$SECONDS status=0 shown watcher
	shift
	tell_progress "$name" "$log" &
	watcher=$!
	"$@" >"$log" 2>&1 </dev/null || status=$?
	kill "$watcher"
	wait "$watcher" 2>/dev/null || true
	if [[ $status == 0 ]]; then
		printf '%-10s ok      %3d s\n' "$name" $((SECONDS - start))
	else
		printf '%-10s FAILED  %3d s, the end of %s:\n' "$name" $((SECONDS - start)) "$log"
		grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" | tail -n 40 |
			sed 's/^/    /'
		failed_tests "$log" >>"$builds/failed_tests.log"
	fi
	shown='tests passed, .* failed out of|^lint self-test|\*\*\*Not Run'
	shown+='|^without [a-z_]+ +(hold|fire),|promises are kept$|^[a-z_]+: not tested: '
	grep -E "$shown" "$log" |
		sed 's/^ */           /' || true
	count_results "$log" "$status"
}

# started_by NAME: what the tests of build/tests/NAME start, which ctest does not say before it is
# built. A test that is given the whole build needs the libraries and the command, and one that is
# given the folder of the examples all of them.
started_by()
{
	local folder=$builds/$1
	local -n tests_of=$1_tests
	find "$folder" -name CTestTestfile.cmake -exec grep -h '^add_test(' {} + |
		awk -F '"' -v folder="$folder/" '
			NR == FNR { wanted[$0]; next }
			{ split($1, name, /\[=\[|\]=\]/) }
			!(name[2] in wanted) { next }
			{
				for (i = 2; i <= NF; i += 2)
					if (index($i "/", folder) == 1)
						print substr($i, length(folder) + 1)
			}' <(names_of "$1" "${tests_of[@]}") - |
		sed -e 's|^$|src/all|' -e 's|^examples$|&/all|'
}

# programs_of NAME: what of build/tests/NAME the short series needs. The lint looks at the objects
# of the simulator, no other build compiles the benchmarks, and tests of the command preload a
# clock. asan compiles the models, because its compiler warns of more.
programs_of()
{
	{
		started_by "$1"
		[[ $1 != debug ]] || printf '%s\n' sim tests/bench/all tests/libclock_ahead.so
		[[ $1 != asan ]] || echo tests/model/all
	} | LC_ALL=C sort -u | LC_ALL=C comm -12 - \
		<(ninja -C "$builds/$1" -t targets all | cut -d : -f 1 | LC_ALL=C sort -u)
}

# build NAME: in build/tests/NAME, once at a time; for the short series only the programs that its
# tests start. debug is a little optimized, or valgrind takes twice as long on it; no_sqlite is not.
build()
{
	local preset=$1 options=() programs=(all)
	case $1 in
	debug) options=(-DCMAKE_C_FLAGS_DEBUG='-O1 -g1') ;;
	release) options=("${release[@]}") ;;
	asan | tsan) options=("${sanitizer[@]}") ;;
	no_sqlite)
		preset=debug
		options=("${no_stores[@]}" -DCMAKE_C_FLAGS_DEBUG=-O0)
		;;
	msan)
		preset=asan
		options=("${sanitizer[@]}" "${no_stores[@]}" -DDW_SANITIZE=memory
			-DDW_BUILD_CLI=OFF -DDW_BUILD_EXAMPLES=OFF -DDW_WERROR=OFF
			-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
		;;
	esac
	(
		flock 9
		cd "$root" || exit
		cmake --preset "$preset" -B "$builds/$1" "${options_of_all[@]}" "${options[@]}" ||
			exit
		[[ -n $mode ]] || mapfile -t programs < <(programs_of "$1")
		cmake --build "$builds/$1" -j "$jobs" --target "${programs[@]}"
	) 9>"$builds/$1.lock"
}

# build_ahead NAME...: most tests wait, so the builds of later steps are made meanwhile, of what
# processor time the tests leave. What fails here fails again in its step, which says it.
build_ahead()
{
	local name
	renice -n 19 "$BASHPID" >/dev/null
	for name in "$@"; do
		build "$name" >"$builds/$name.ahead.log" 2>&1 </dev/null || true
	done
}

# run_tests NAME SCALE CTEST-OPTION...: the tests of build/tests/NAME, SCALE percent of the random
# ones, with the command in plain before them. Says what the machine could not run, and why.
run_tests()
{
	local status=0
	DW_TEST_SCALE=$2 "${plain[@]}" ctest --test-dir "$builds/$1" \
		-j "${at_once:-$tests_at_once}" --output-on-failure --no-tests=error "${@:3}" ||
		status=$?
	awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
		sub(/^.*NOT TESTED: /, "") { print name ": not tested: " $0 }' \
		"$builds/$1/Testing/Temporary/LastTest.log" | sort -u
	return $status
}

# in_memory: what follows keeps its files there; debug and asan have shown what a disk does to the
# tests.
in_memory()
{
	local free folder
	[[ ${TMPDIR:-} != /dev/shm/* ]] || return 0
	free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) || return 0
	[[ ${free:-0} -gt 2000000 ]] || return 0
	folder=$(mktemp -d /dev/shm/durawheel-XXXXXX) || return 0
	# shellcheck disable=SC2064 # this folder
	trap "rm -rf '$folder'" EXIT
	if cp /bin/true "$folder" && "$folder/true"; then # programs may be started there
		export TMPDIR=$folder
	fi
}

# headers: each public header compiles alone, in each language it promises.
headers()
{
	local header flags=(-fsyntax-only -pedantic -Wall -Wextra -Werror -I "$root/include")
	for header in "$root"/include/durawheel/*.h; do
		echo "$header"
		gcc -std=c99 -x c "${flags[@]}" "$header" || return 1
		gcc -std=c11 -x c "${flags[@]}" "$header" || return 1
		g++ -std=c++11 -x c++ "${flags[@]}" "$header" || return 1
	done
}

debug()
{
	build debug || return 1
	[[ $mode == --quick ]] || build_ahead asan release tsan no_sqlite &
	run_tests debug $debug_scale "${debug_tests[@]}"
}

release()
{
	build release && run_tests release $release_scale "${release_tests[@]}"
}

asan()
{
	build asan && run_tests asan $asan_scale "${asan_tests[@]}"
}

# tsan: GCC 12's needs the older, smaller randomization of addresses.
tsan()
{
	local plain=()
	! setarch -R true 2>/dev/null || plain=(setarch -R)
	build tsan && run_tests tsan $tsan_scale "${tsan_tests[@]}"
}

# memcheck_one TEST: one unit test of the debug build under valgrind.
memcheck_one()
{
	local log=$builds/valgrind/$1
	if valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
		"$builds/debug/tests/$1" >"$log" 2>&1; then
		echo "$1 passed"
	else
		cat "$log"
		echo "FAILED: $1"
		return 1
	fi
}

# longest_first: the unit tests of the debug build, by the time that ctest took for them.
longest_first()
{
	find "$builds/debug/tests" -maxdepth 1 -name 'test_*' -type f -executable -printf '%f\n' |
		awk 'FILENAME != "-" { cost[$1] = $3; next } { print cost[$1] + 0, $1 }' \
			"$builds/debug/Testing/Temporary/CTestCostData.txt" - |
		sort -rn | cut -d ' ' -f 2
}

# memcheck: the unit tests with few of the random operations. Some wait: more than processors.
memcheck()
{
	build debug || return 1
	mkdir -p "$builds/valgrind"
	export builds
	export -f memcheck_one
	longest_first | grep -vE "$not_slowly" |
		DW_TEST_SCALE=2 xargs -P "$((jobs + 2))" -I TEST bash -c 'memcheck_one TEST'
}

# msan: clang's MemorySanitizer believes only code that it has compiled. So the stores are left out
# that are libraries of others, and what C++'s library or libev alone does.
msan()
{
	build msan && run_tests msan 10 -L unit -E '^(cxx_|exceptions_|test_api_drive$)'
}

no_sqlite()
{
	build no_sqlite && run_tests no_sqlite 20 "${no_sqlite_tests[@]}"
}

# refuses_tls FOLDER: the command that was built there has no TLS, and says so.
refuses_tls()
{
	! ldd "$1/durawheel" | grep -e libssl -e libcrypto || return 1
	! "$1/durawheel" list --store rediss://localhost 2>"$1/words" || return 1
	grep -e '-DDW_WITH_TLS=ON' "$1/words" || {
		cat "$1/words"
		return 1
	}
}

# options: each option of README's builds alone; no_sqlite has three of them together.
options()
{
	local option
	for option in WITH_SQLITE WITH_REDIS WITH_TLS WITH_HTTP BUILD_CLI BUILD_EXAMPLES; do
		echo "-DDW_$option=OFF"
		rm -rf "$builds/options"
		cmake -S "$root" -B "$builds/options" -G Ninja "${options_of_all[@]}" \
			-DDW_BUILD_TESTS=OFF "-DDW_$option=OFF" -DCMAKE_BUILD_TYPE=Debug ||
			return 1
		cmake --build "$builds/options" -j "$jobs" || return 1
		[[ $option != WITH_TLS ]] || refuses_tls "$builds/options" || return 1
	done
}

# packages: what cpack makes, installed. The objects are those of release, which has nothing to do
# afterwards; in --all it has.
packages()
{
	local folder=release
	[[ $mode != --all ]] || folder=package
	"$root/tests/consumer/debian.sh" "$builds/$folder"
}

# larger_tests: the unit tests with an amount that the scale or DW_LONG raises.
larger_tests()
{
	grep -rlE 'DW_LONG|environment_scaled' "$root/tests/unit" --include='test_*.c' |
		sed 's|.*/\(.*\)\.c$|\1|' | paste -sd '|'
}

# long: what has a larger amount then. The planted bugs, and the seeds that run twice, have not. A
# crash test starts 1,000 timers a second, so few run at once.
long()
{
	local larger at_once status=0
	larger="sim_.*|.*_model|cli_killed_(worker|take)_.*|$(larger_tests)"
	larger+='|test_contract_(memory|table|sqlite|redis)'
	build release && build asan || return 1
	DW_LONG=1 run_tests release 100 -R "^(sim|$larger)\$" -E '_selftest$|_same$|^sim_usage$' \
		--timeout 3600 || status=1
	at_once=$((2 * jobs))
	DW_LONG=1 run_tests release 30 -L crash --timeout 3600 || status=1
	run_tests asan 20 -L crash --timeout 3600 || status=1
	return $status
}

# model: every world, and what each rule of the journal's protocol is for.
model()
{
	local journal_model=$builds/release/tests/model/journal_model
	build release || return 1
	DW_LONG=1 "$journal_model" --all-rules && "$journal_model" --each-rule
}

# benches: that they run; figures need a quiet machine. The amount of bench_peers is seconds.
benches()
{
	local bench amount
	build release || return 1
	for bench in "$builds"/release/tests/bench/bench_*; do
		[[ -f $bench ]] || continue
		amount=1000
		[[ $bench != */bench_peers ]] || amount=10
		"$bench" --n $amount || return 1
	done
}

musl()
{
	"$root/tests/cross/musl.sh" "$builds/musl"
}

arm64()
{
	"$root/tests/cross/arm64.sh" "$builds/arm64"
}

mode=${1:-}
steps=(headers debug asan release tsan no_sqlite series packages)
case $mode in
'') ;;
--quick) steps=(headers debug) ;;
--all) steps+=(memcheck msan long model options benches musl arm64) ;;
--help) usage && exit 0 ;;
*) usage >&2 && exit 2 ;;
esac
if [[ $mode == --all && $# -gt 1 ]]; then
	for name in "${@:2}"; do
		[[ " ${steps[*]} " == *" $name "* ]] || {
			echo "$name: no step; the steps are ${steps[*]}" >&2
			exit 2
		}
	done
	steps=("${@:2}")
fi
[[ $# -le 1 || $mode == --all ]] || { usage >&2 && exit 2; }
short_series
[[ $mode != --quick ]] || quick_series
[[ $mode != --all ]] || whole_series

"$root/tests/support/install.sh" build test redis
[[ $mode != --all ]] || "$root/tests/support/install.sh" cross
mkdir -p "$builds/bin"
: >"$builds/failed_tests.log"
# python3 may be a script that looks for the right python3, which takes longer than most tests.
ln -sf "$(python3 -c 'import sys; print(sys.executable)')" "$builds/bin/python3"
PATH=$builds/bin:$PATH
for name in "${steps[@]}"; do
	[[ $name =~ ^(headers|debug|asan)$ ]] || in_memory
	step "$name" "$name"
done
cat "$builds/failed_tests.log"
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]

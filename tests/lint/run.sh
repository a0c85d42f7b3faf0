#!/usr/bin/env bash
# The lint: what this project agreed on and a compiler does not check.
#
#	tests/lint/run.sh [ROOT [BUILD]]
#	tests/lint/run.sh --floors [ROOT]
#
# The second form prints the floors and their folders, which src/README.md shows.
# ROOT is the tree to look at, by default this one. BUILD is the folder that it was built in; by
# default the newest of ROOT/build/debug and ROOT/build/tests/debug, and without one the objects are
# not looked at. Each violation is one line: file:line: what; what would be right. Exit 1 if there
# is any. exceptions.txt lists the ones that are still excused. The lint needs awk, grep,
# clang-format 14, shellcheck and binutils; tests/support/install.sh test installs them.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
only_floors=
if [[ ${1-} == --floors ]]; then
	only_floors=yes
	shift
fi
cd "${1:-$here/../..}"
build=${2:-}
for folder in build/debug build/tests/debug; do
	if [[ $# -lt 2 && -d $folder && (-z $build || $folder -nt $build) ]]; then
		build=$folder
	fi
done

# files_named FOLDER... -- PATTERN...: the files below those folders that exist.
files_named()
{
	local folders=() patterns=() word
	while [[ $1 != -- ]]; do
		[[ ! -d $1 ]] || folders+=("$1")
		shift
	done
	shift
	for word; do
		patterns+=(-o -name "$word")
	done
	[[ ${#folders[@]} -gt 0 ]] || return 0
	find "${folders[@]}" -type f \( "${patterns[@]:1}" \) | sort
}

# with_files COMMAND...: with the names on stdin as further arguments; nothing if there are none.
with_files()
{
	xargs -r -d '\n' "$@"
}

stripped()
{
	files_named "$@" | with_files awk -f "$here/strip.awk"
}

check_floors()
{
	stripped src include -- '*.c' '*.h' | awk -f "$here/floor_of.awk" -f "$here/floors.awk"
}

# floors: one line a floor, with its folders.
floors()
{
	files_named src -- '*.c' | sed 's|/[^/]*$||' | sort -u |
		awk -f "$here/floor_of.awk" -f "$here/floor_list.awk"
}

# check_readme: a list that src/README.md shows is the one that the lint goes by.
check_readme()
{
	local line
	[[ -f src/README.md ]] || return 0
	floors | while IFS= read -r line; do
		grep -qxF -- "$line" src/README.md ||
			echo "src/README.md:1: does not show the floor \"$line\"; copy the output" \
				"of tests/lint/run.sh --floors"
	done
}

# symbols FOLDER: of the objects below it, as FOLDER/file.c.o; the scripts' table, which the build
# makes, belongs to the Redis store.
symbols()
{
	[[ -d $1 ]] || return 0
	(cd "$1" && find . -name '*.c.o' -printf '%P\n' | sort | with_files nm -A -P) |
		sed 's|^redis_scripts|store/redis/&|'
}

# lists: the lines of each core.h that lists its parts in the order of their calls.
lists()
{
	files_named src -- core.h | with_files grep -l 'calls only parts above it' |
		with_files grep -H $'^ \\*\t' || true
}

check_calls()
{
	[[ -n $build ]] || return 0
	{
		lists
		symbols "$build/src/CMakeFiles/durawheel_objects.dir" | sed 's|^|src/|'
		symbols "$build/tests/sim/CMakeFiles/sim.dir" | sed 's|^|tests/sim/|'
		symbols "$build/tests/model/CMakeFiles/journal_model.dir" |
			sed 's|^|tests/model/|'
	} | awk -f "$here/floor_of.awk" -f "$here/calls.awk"
	{
		symbols "$build/src/cli/CMakeFiles/durawheel_cli.dir" | sed 's|^|src/cli/|'
		symbols "$build/src/web/CMakeFiles/durawheel_web.dir" | sed 's|^|src/web/|'
	} | awk -f "$here/floor_of.awk" -f "$here/calls.awk"
}

check_rooms()
{
	stripped src -- '*.c' '*.h' | awk -f "$here/rooms.awk"
}

check_parts()
{
	files_named lua -- '*.lua' | with_files awk -f "$here/parts.awk"
}

check_functions()
{
	stripped src include tests examples -- '*.c' '*.h' '*.cc' | awk -f "$here/functions.awk"
}

check_text()
{
	files_named src include lua tests examples .ci -- '*.c' '*.h' '*.cc' '*.cpp' \
		'*.hpp' '*.lua' '*.sh' '*.awk' '*.cmake' CMakeLists.txt run |
		with_files awk -f "$here/text.awk"
}

# check_order: what a script reads with pairs() it sorts, because the order would reach Redis.
check_order()
{
	files_named lua -- '*.lua' | with_files awk '
		function tell()
		{
			if (unsorted)
				print place ": the order of pairs() reaches Redis; sort the keys" \
					" in the three lines behind the loop"
			unsorted = 0
		}
		FNR == 1 || FNR == unsorted + 4 { tell() }
		/(^|[^a-z_])(pairs|next)\(/ { unsorted = FNR; place = FILENAME ":" FNR }
		/table\.sort\(/ { unsorted = 0 }
		END { tell() }'
}

# place_of OBJECT SYMBOL: the file and the line of the symbol, looked up by its name.
place_of()
{
	local source line
	source=$(find src -name "${1%.o}" | head -n 1)
	line=$(grep -nw -- "$2" "${source:-/dev/null}" | head -n 1 | cut -d: -f1 || true)
	echo "${source:-$1}:${line:-1}"
}

check_globals()
{
	local object symbol section
	local archive=$build/src/libdurawheel_inside.a
	[[ -f $archive ]] || return 0
	objdump -t "$archive" | awk -f "$here/globals.awk" | while read -r object symbol section; do
		symbol=${symbol%%.*}
		echo "$(place_of "$object" "$symbol"): $symbol is a mutable global ($section);" \
			"make it const or part of a handle"
	done
}

check_format()
{
	if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
		echo "tests/lint/run.sh:1: no clang-format 14 to ask; install the package" \
			"clang-format (Debian 12)"
		return 0
	fi
	(files_named src include tests examples -- '*.c' '*.h' '*.cc' '*.cpp' '*.hpp' |
		with_files clang-format --dry-run -Werror 2>&1 || true) |
		awk -F: '/code should be clang-formatted/ && !said[$1]++ {
			print $1 ":" $2 ": not formatted; run clang-format -i (version 14) on it" }'
}

check_scripts()
{
	if ! shellcheck --version >/dev/null 2>&1; then
		echo "tests/lint/run.sh:1: no shellcheck to ask; install the package shellcheck"
		return 0
	fi
	files_named tests examples .ci -- '*.sh' run | with_files shellcheck -x -f gcc || true
}

# check_memory: each public function is called in a sweep that lets every allocation fail, or
# allocates_nothing.txt says why it needs none.
check_memory()
{
	local list=tests/lint/allocates_nothing.txt header=include/durawheel/durawheel.h
	local swept functions place name reason
	swept=$(stripped tests/unit -- 'test_out_of_memory*.c' test_wheel_memory.c)
	functions=$(files_named include -- '*.h' | with_files grep -Hno '^DW_API [^(]*(' |
		sed 's/^\(.*:[0-9]*\):.*\b\(dw_[a-z_]*\)($/\1 \2/')
	while read -r place name; do
		[[ -z $name ]] || grep -q "\b$name(" <<<"$swept" || grep -qs "^$name: ." "$list" ||
			echo "$place: $name is in no sweep of failing allocations; call it in" \
				"tests/unit/handle/test_out_of_memory_calls.c, or say why" \
				"it needs none in $list"
	done <<<"$functions"
	[[ ! -f $list ]] || grep -n '^[^#]' "$list" | while IFS=: read -r place name reason; do
		grep -q " $name\$" <<<"$functions" && [[ -n $reason ]] ||
			echo "$list:$place: $name is not public, or has no reason; see $header"
	done
}

if [[ -n $only_floors ]]; then
	floors
	exit
fi
exceptions=tests/lint/exceptions.txt
[[ -f $exceptions ]] || exceptions=/dev/null
checks=(floors readme calls rooms parts functions text order globals format scripts memory)
findings=$(for check in "${checks[@]}"; do
	"check_$check" || echo "tests/lint/run.sh:1: the check of $check did not run; repair it"
done | awk -v list="$exceptions" -v objects="$build" -f "$here/exceptions.awk" "$exceptions" -)
if [[ -n $findings ]]; then
	printf '%s\n' "$findings"
	echo "lint: $(grep -c . <<<"$findings") violations" >&2
	exit 1
fi
echo "lint: clean"

#!/usr/bin/env bash
# What a program that was built with this library relies on, compared with tests/abi/symbols.txt:
# the SONAME, the symbols and their versions, the public structures with the offset of each field,
# enumerators, and macros. A change of any of them fails until that file says it, too, so that it is
# seen in review: what is gone, has moved or has another value breaks programs and needs a new major
# version; what is added at the end of a structure with a size, or to the version script, does not.
# The static library shows the same symbols and no other.
#
#	tests/abi/run.sh BUILD_DIR              compares
#	tests/abi/run.sh BUILD_DIR --update     writes the file
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
library=$(readlink -f "$1")/src/libdurawheel.so
archive=$(readlink -f "$1")/src/libdurawheel.a
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# headers: a source that includes every public header.
headers()
{
	local header
	for header in "$root"/include/durawheel/*.h; do
		printf '#include <durawheel/%s>\n' "${header##*/}"
	done
}

# library_part: the SONAME, and each symbol as name@VERSION.
library_part()
{
	readelf -dW "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/soname \1/p'
	readelf --dyn-syms -W "$library" | awk '$7 ~ /^[0-9]+$/ {
		print $4 == "FUNC" ? "symbol" : "object", $8 }' | sort
}

# types_part: structures and enumerations of 64-bit Linux, from the compiler's own description.
types_part()
{
	headers >"$work/types.c"
	cc -std=c11 -g -gdwarf-4 -fno-eliminate-unused-debug-types -I "$root/include" \
		-c "$work/types.c" -o "$work/types.o"
	readelf -W --debug-dump=info "$work/types.o" | awk -f "$here/types.awk" | sort -s -k1,2
}

# macros_part: the values, but the version's.
macros_part()
{
	headers >"$work/macros.c"
	cc -std=c11 -E -dM -I "$root/include" "$work/macros.c" |
		sed -n 's/^#define \(DW_.*\)/macro \1/p' | grep -vE '^macro DW_(VERSION|API)\b' |
		sort
}

# Functions that a header promises and the version script forgets, or the reverse.
promises()
{
	headers | cc -std=c11 -E -P -I "$root/include" -x c - | "$here/functions.sh" |
		sort
}

export LC_ALL=C
{
	library_part
	types_part
	macros_part
} >"$work/symbols.txt"
[[ $(grep -c '^symbol' "$work/symbols.txt") -gt 0 ]]

promises >"$work/promised"
awk '/^\t[a-z_]+;/ { sub(/;/, "", $1); print $1 }' "$root/src/durawheel.map" | sort \
	>"$work/named"
sed -n 's/^symbol \(.*\)@@.*/\1/p' "$work/symbols.txt" | sort >"$work/shown"
diff "$work/promised" "$work/named" ||
	{ echo "FAILED: the headers (<) and src/durawheel.map (>) differ" >&2 && exit 1; }
diff "$work/named" "$work/shown" ||
	{ echo "FAILED: src/durawheel.map (<) and the library (>) differ" >&2 && exit 1; }

# A name more in the archive would take the place of a program's own function of that name.
nm --defined-only --extern-only "$archive" | awk 'NF == 3 { print $3 }' | sort >"$work/linked"
diff "$work/named" "$work/linked" ||
	{ echo "FAILED: src/durawheel.map (<) and the static library (>) differ" >&2 && exit 1; }

if [[ ${2:-} == --update ]]; then
	cp "$work/symbols.txt" "$here/symbols.txt"
elif ! diff "$here/symbols.txt" "$work/symbols.txt"; then
	echo "FAILED: the ABI is not the one of tests/abi/symbols.txt (<). If that is meant," \
		"tests/abi/run.sh $1 --update" >&2
	exit 1
fi

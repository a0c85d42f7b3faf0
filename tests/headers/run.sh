#!/usr/bin/env bash
# The public macros in C99, C11 and C++11: no warning, and the right values.
#
#	tests/headers/run.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp)
trap 'rm -f "$out"' EXIT
flags=(-I "$here/../../include" -pedantic -Wall -Wextra -Werror -Wconversion -Wsign-conversion
	-Wundef -Wshadow)

for standard in c99 c11; do
	"${CC:-cc}" -std=$standard "${flags[@]}" -Wbad-function-cast "$here/macros.c" -o "$out"
	"$out"
done
"${CXX:-c++}" -std=c++11 "${flags[@]}" -Wold-style-cast -x c++ "$here/macros.c" -o "$out"
"$out"

#!/usr/bin/env bash
# The public macros in C99, C11, C++11 and C++20: no warning, and the right values. durawheel.hpp in
# C++17 with exceptions and in C++20 without: no warning. All also by clang if it is there.
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
for standard in c++11 c++20; do
	"${CXX:-c++}" -std=$standard "${flags[@]}" -Wold-style-cast -Wuseless-cast -x c++ \
		"$here/macros.c" -o "$out"
	"$out"
done
if type clang++ >/dev/null 2>&1; then
	clang++ -std=c++11 "${flags[@]}" -Wold-style-cast -x c++ "$here/macros.c" -o "$out"
	"$out"
fi
for compiler in "${CXX:-c++}" clang++; do
	type "$compiler" >/dev/null 2>&1 || continue
	for flavour in '-std=c++17 -fexceptions' '-std=c++20 -fno-exceptions'; do
		read -ra options <<<"$flavour"
		"$compiler" "${options[@]}" "${flags[@]}" -Wold-style-cast -fsyntax-only \
			"$here/../cxx/cxx.cc" "$here/../cxx/cxx_calls.cc"
	done
done

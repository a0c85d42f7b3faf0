#!/usr/bin/env bash
# The public macros in C99, C11, C++11 and C++20: no warning, and the right values. durawheel.hpp in
# C++17 with exceptions and in C++20 without: no warning. What needs clang is not tested without it.
#
#	tests/headers/run.sh [CASE...]
# Cases: macros, gcc, gcc_no_exceptions, clang, clang_no_exceptions; by default all.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp)
trap 'rm -f "$out"' EXIT
flags=(-I "$here/../../include" -pedantic -Wall -Wextra -Werror -Wconversion -Wsign-conversion
	-Wundef -Wshadow)

macros()
{
	local standard
	for standard in c99 c11; do
		"${CC:-cc}" -std=$standard "${flags[@]}" -Wbad-function-cast "$here/macros.c" \
			-o "$out"
		"$out"
	done
	for standard in c++11 c++20; do
		"${CXX:-c++}" -std=$standard "${flags[@]}" -Wold-style-cast -Wuseless-cast -x c++ \
			"$here/macros.c" -o "$out"
		"$out"
	done
	if ! type clang++ >/dev/null 2>&1; then
		echo "NOT TESTED: the macros with clang++, which is not installed"
		return
	fi
	clang++ -std=c++11 "${flags[@]}" -Wold-style-cast -x c++ "$here/macros.c" -o "$out"
	"$out"
}

# header COMPILER OPTION...: durawheel.hpp, by the programs that use every part of it.
header()
{
	type "$1" >/dev/null 2>&1 || { echo "NOT TESTED: $1 is not installed" && exit 77; }
	"$@" "${flags[@]}" -Wold-style-cast -fsyntax-only "$here/../cxx/cxx.cc" \
		"$here/../cxx/cxx_calls.cc"
}

[[ $# -gt 0 ]] || set -- macros gcc gcc_no_exceptions clang clang_no_exceptions
for case; do
	case $case in
	macros) macros ;;
	gcc) header "${CXX:-c++}" -std=c++17 -fexceptions ;;
	gcc_no_exceptions) header "${CXX:-c++}" -std=c++20 -fno-exceptions ;;
	clang) header clang++ -std=c++17 -fexceptions ;;
	clang_no_exceptions) header clang++ -std=c++20 -fno-exceptions ;;
	*) echo "no case $case" >&2 && exit 2 ;;
	esac
done

#!/usr/bin/env bash
# Installs the build into a folder of its own and is there who a user is: programs in C and in C++
# find the library by pkg-config and by find_package, shared and static, link every public function
# and expand every public macro; and README's first program does what README says.
#
#	tests/consumer/run.sh BUILD_DIR CASE...
# Cases: pkgconfig, space, cmake, readme, cxx, sqlite, plain, scripts, added, examples.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
root=$(mktemp -d)
trap 'redis_kill; rm -rf "$root"' EXIT
# shellcheck source=tests/support/redis_server.sh
. "$here/../support/redis_server.sh"
warnings=(-Wall -Wextra -Werror)

die()
{
	echo "FAILED: $*" >&2
	exit 1
}

# uses PROGRAM: it needs the shared library at run time.
uses()
{
	readelf -dW "$1" | grep 'NEEDED.*\[libdurawheel\.so\.0\]' >/dev/null
}

# every PROGRAM: it runs, and has linked as many functions as the version script names, and the one
# that is inline.
every()
{
	local said
	said=$(LD_LIBRARY_PATH=$libdir "$1") || die "$1 failed"
	[[ $said == "$((named + 1)) functions, "[1-9][0-9]*" macros" ]] ||
		die "$1 says \"$said\" and src/durawheel.map names $named functions"
}

# hello PROGRAM: README's first program; without SQLite it says why it cannot start.
hello()
{
	local status=0
	(cd "$root" && rm -f hello.db* && LD_LIBRARY_PATH=$libdir "$1" >out 2>&1) || status=$?
	if grep -q sqlite "$PKG_CONFIG_PATH/durawheel.pc"; then
		[[ $status == 0 ]] || die "$1 ended with $status: $(cat "$root/out")"
		[[ $(cat "$root/out") == 'order:42 was not paid in time: cancelled' ]] ||
			die "$1 says: $(cat "$root/out")"
	else
		[[ $status == 1 ]] || die "$1 ended with $status: $(cat "$root/out")"
		grep -q 'built without SQLite' "$root/out" ||
			die "$1 does not say that SQLite is missing: $(cat "$root/out")"
		! readelf -dW "$libdir/libdurawheel.so" | grep sqlite || die "SQLite is needed"
	fi
}

pkgconfig_case()
{
	local std shared static
	read -ra shared < <(pkg-config --cflags --libs durawheel)
	read -ra static < <(pkg-config --cflags --libs --static durawheel)
	for std in c99 c11; do
		cc -std=$std "${warnings[@]}" -pedantic every.c "${shared[@]}" -o every_$std
		uses every_$std || die "every_$std does not use the shared library"
		every ./every_$std
	done
	for std in c++11 c++20; do
		c++ -std=$std "${warnings[@]}" -pedantic every.cc "${shared[@]}" -o every_$std
		every ./every_$std
	done
	# The linker warns of SQLite's dlopen, which is never called.
	cc "${warnings[@]}" -static every.c "${static[@]}" -o static_c
	c++ "${warnings[@]}" -static every.cc "${static[@]}" -o static_cc
	! uses static_c || die "static_c uses the shared library"
	every ./static_c
	every ./static_cc
	cc -static hello.c "${static[@]}" -o static_hello
	hello ./static_hello
}

cmake_case()
{
	local program
	cmake -S "$here/project" -B project -DCMAKE_PREFIX_PATH="$root/usr" -DEVERY="$root" \
		-DCMAKE_C_FLAGS='-Wall -Wextra -Werror' -DCMAKE_CXX_FLAGS='-Wall -Werror' \
		>log 2>&1 || die "$(tail -n 30 log)"
	cmake --build project >log 2>&1 || die "$(tail -n 30 log)"
	for program in every_c every_cc; do
		every "project/${program}_shared"
		every "project/${program}_static"
	done
	uses project/hello_c_shared || die "hello_c_shared does not use the shared library"
	! uses project/hello_c_static || die "hello_c_static uses the shared library"
	hello project/hello_c_shared
	hello project/hello_cc_static
}

# The line of README, to the letter, as C and, renamed, as C++.
readme_case()
{
	local line
	line=$(tr '`' '\n' <"$here/../../README.md" | grep '^cc hello\.c ')
	[[ $(wc -l <hello.c) -le 30 ]] || die "the first program of README is not short any more"
	bash -c "$line"
	hello ./a.out
	bash -c "${line/hello.c/hello.cc}"
	hello ./a.out
	bash -c "${line/cc hello.c/c++ -std=c++20 -Wall -Wextra -pedantic -Werror hello.cc}"
	bash -c "${line/cc hello.c/c++ -std=c++11 -Wall -Wextra -pedantic -Werror hello.cc}"
	bash -c "${line/cc hello.c/cc -std=c99 -Wall -Wextra -pedantic -Werror hello.c}"
}

# README's lines of C++17, in a program.
cxx_case()
{
	local shared
	{
		printf '#include <iostream>\n#include <durawheel/durawheel.hpp>\n'
		printf 'using namespace std::chrono_literals;\nint main()\n{\n'
		awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' \
			"$here/../../README.md"
		printf 'if (error)\n\treturn std::cerr << message, 1;\n}\n'
	} >lines.cc
	read -ra shared < <(pkg-config --cflags --libs durawheel)
	c++ -std=c++17 "${warnings[@]}" lines.cc "${shared[@]}" -o lines
	hello ./lines
}

# A SQLite that is too old is refused when it is configured, not when the first store is opened.
sqlite_case()
{
	mkdir old
	printf '#define SQLITE_VERSION        "3.36.0"\n' >old/sqlite3.h
	! cmake -S "$here/../.." -B configured -Ddw_sqlite3_INCLUDE="$root/old" \
		-Ddw_sqlite3_LIBRARY="$root/old" -DDW_BUILD_TESTS=OFF >log 2>&1 ||
		die "SQLite 3.36 is accepted"
	tr -s ' \n' ' ' <log | grep -q 'needs SQLite 3.37 or newer' || die "$(tail -n 30 log)"
}

# README names the packages of .ci/packages, and with those its commands work: the tests are left
# out without cmocka, and who asks for them is told what is missing.
plain_case()
{
	local named listed
	named=$(sed -n 's/^    sudo apt-get install //p' "$here/../../README.md" | tr ' ' '\n' |
		sort)
	listed=$(awk '$1 == "build" { print $2 }' "$here/../../.ci/packages" | sort)
	[[ $named == "$listed" ]] || die "README names $named, and .ci/packages $listed"
	cmake -S "$here/../.." -B plain -G 'Unix Makefiles' \
		-DCMAKE_DISABLE_FIND_PACKAGE_cmocka=ON >log 2>&1 ||
		die "$(tail -n 30 log)"
	grep -q 'tests are left out: apt-get install libcmocka-dev' log || die "$(tail -n 30 log)"
	[[ ! -e plain/tests ]] || die "the tests are configured"
	! cmake -S "$here/../.." -B asked -DDW_BUILD_TESTS=ON \
		-DCMAKE_DISABLE_FIND_PACKAGE_cmocka=ON >log 2>&1 || die "tests without cmocka"
	grep -q 'apt-get install libcmocka-dev' log || die "$(tail -n 30 log)"
}

# Added to another project, durawheel is its libraries alone: no command, no tests, no examples, and
# nothing of it is installed unless that is asked for.
added_case()
{
	local sqlite=ON
	grep -q sqlite "$PKG_CONFIG_PATH/durawheel.pc" || sqlite=OFF
	local options=(-S "$here/added" -DDURAWHEEL="$here/../.." -DEVERY="$root"
		-DCMAKE_BUILD_TYPE=Debug -DDW_WITH_REDIS=OFF "-DDW_WITH_SQLITE=$sqlite")
	cmake "${options[@]}" -B added -DWAY=FetchContent >log 2>&1 || die "$(tail -n 30 log)"
	cmake --build added -j "$(nproc)" >log 2>&1 || die "$(tail -n 30 log)"
	hello added/hello
	[[ -z $(find added -name durawheel -type f) ]] || die "the command is built"
	[[ -z $(find added -type d \( -name tests -o -name examples \)) ]] ||
		die "tests or examples are configured"
	cmake --install added --prefix "$root/of_added" >log 2>&1 || die "$(tail -n 30 log)"
	[[ $(cd of_added && find . -type f) == ./bin/hello ]] ||
		die "installed: $(find of_added -type f)"
	cmake "${options[@]}" -B asked_added -DDW_INSTALL=ON >log 2>&1 || die "$(tail -n 30 log)"
	grep -q durawheel.pc asked_added/durawheel/cmake_install.cmake || die "not installed"
}

# The installed examples are built and run where they are; the samples of a service are sound.
examples_case()
{
	local examples=$root/usr/share/doc/durawheel/examples
	mkdir built
	make -s -C "$examples" OUT="$root/built" CFLAGS='-O0 -Wall -Wextra -Werror' >log 2>&1 ||
		die "$(tail -n 30 log)"
	hello built/hello
	LD_LIBRARY_PATH=$libdir built/exam_reminders --store memory: --speed 1000000 --until-idle \
		"$examples/aqa-gcse-2023.csv" >said || die "the reminders failed: $(tail -n 3 said)"
	[[ $(wc -l <said) == 124 ]] || die "$(wc -l <said) reminders of 124"
	! grep -q sqlite "$PKG_CONFIG_PATH/durawheel.pc" ||
		"$build/durawheel" run --check --config \
			"$here/../../src/cli/run/systemd/sample.conf" ||
		die "sample.conf is refused"
}

# Installed in a folder whose name has a space.
space_case()
{
	local flags
	cmake --install "$build" --prefix "$root/a b" >/dev/null
	flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$root/a b" -name durawheel.pc)") \
		pkg-config --cflags --libs durawheel)
	eval "cc hello.c $flags -o spaced" || die "$flags"
}

# The installed scripts are whole: a server takes each, and the commands of their README work.
scripts_case()
{
	local scripts=$root/usr/share/durawheel/lua script
	[[ -d $scripts ]] || { echo "NOT TESTED: built without Redis" && exit 77; }
	! ls -d "$scripts"/*/ 2>/dev/null || die "parts of scripts are installed"
	redis_start "$root" || die "no redis-server"
	for script in "$scripts"/*.lua; do
		[[ $(redis-cli -s socket -x SCRIPT LOAD <"$script") == *[0-9a-f] ]] ||
			die "the server does not take $script"
	done
	DURAWHEEL_NAME=orders DURAWHEEL_STORE=unix://$root/socket "$build/durawheel" run \
		--until-idle >log 2>&1 || die "$(cat log)"
	awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$scripts/README.md" |
		sed -e "s|redis-cli|redis-cli -s socket|" -e "s|/usr/share|$root/usr/share|" \
			>commands
	bash -eu commands >said
	[[ $(tail -n 1 said) == OK ]] || die "lua/README.md's commands say: $(cat said)"
}

cmake --install "$build" --prefix "$root/usr" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name durawheel.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir durawheel)
[[ $(pkg-config --variable=prefix durawheel) == "$root/usr" ]] ||
	die "durawheel.pc has not got the prefix it was installed with"
named=$(grep -cE '^\s[a-z_]+;' "$here/../../src/durawheel.map")

cd "$root"
"$here/every.sh" "$root/usr/include" >every.c
cp every.c every.cc
awk '/^```c$/ { inside = !seen++; next } /^```$/ { inside = 0 } inside' \
	"$here/../../README.md" >hello.c
cp hello.c hello.cc
for name; do
	"${name}_case"
	echo "consumer: $name passed"
done

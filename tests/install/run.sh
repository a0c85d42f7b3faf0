#!/usr/bin/env bash
# Installs the build into a folder of its own and does there what README says: the first program
# compiles against pkg-config's answer, as C and as C++, with the shared and the static library.
#
#	tests/install/run.sh BUILD_DIR
set -euo pipefail

build=$1
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

cmake --install "$build" --prefix "$root/usr" >/dev/null
# The prefix of the build is in the file; this one is the folder's.
pc=$(find "$root" -name durawheel.pc)
sed -i "s|^prefix=.*|prefix=$root/usr|; s|^libdir=.*|libdir=$(dirname "$(dirname "$pc")")|
	s|^includedir=.*|includedir=$root/usr/include|" "$pc"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir durawheel)
read -ra shared < <(pkg-config --cflags --libs durawheel)
read -ra static < <(pkg-config --cflags --libs --static durawheel)

cd "$root"
cc -Wall -Wextra -Werror "$examples/hello.c" "${shared[@]}" -o shared
c++ -std=c++20 -Wall -Werror -x c++ "$examples/hello.c" -x none "${shared[@]}" -o cpp
cc "$examples/hello.c" "${static[@]/#-ldurawheel/-l:libdurawheel.a}" -o static
for program in shared cpp static; do
	LD_LIBRARY_PATH=$libdir "./$program" >out
	grep -q '^order:42 ' out
	rm -f hello.db*
done
# What the shared library shows is what the version script names, no more and no less.
nm -D --defined-only "$libdir/libdurawheel.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' |
	sort >shown
awk '/^\t[a-z_]+;/ { sub(/;/, "", $1); print $1 }' "$examples/../src/durawheel.map" | sort >named
diff named shown

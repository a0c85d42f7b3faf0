#!/usr/bin/env bash
# Compiles the library with musl, all stores and TLS, and runs README's first program on memory:.
#
#	tests/cross/musl.sh FOLDER
#
# Debian has no libraries for musl. So the headers are those of glibc's libraries, and libev is
# glibc's: musl_missing.c has the functions that it and GCC's unwinder want of glibc. The stores are
# compiled, and not linked.
set -euo pipefail

[[ $# == 1 ]] || {
	sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
libraries=/usr/lib/$(gcc -print-multiarch)
headers=$folder/include

# musl-gcc does not look into /usr/include, so what is needed of it is linked here.
rm -rf "$headers"
mkdir -p "$headers/openssl"
ln -s /usr/include/ev.h /usr/include/sqlite3.h /usr/include/hiredis "$headers"
ln -s /usr/include/openssl/* "/usr/include/$(gcc -print-multiarch)"/openssl/* "$headers/openssl"

# build NAME OPTION...: the static library. musl's msg_iovlen is an int, glibc's a size_t.
build()
{
	local name=$1 places=() library
	for library in ev sqlite3 hiredis ssl crypto; do
		places+=("-Ddw_${library}_INCLUDE=$headers"
			"-Ddw_${library}_LIBRARY=$libraries/lib$library.a")
	done
	cmake -S "$source" -B "$folder/$name" -G Ninja -DCMAKE_C_COMPILER=musl-gcc \
		-DCMAKE_C_FLAGS='-Wno-error=conversion -Wno-error=sign-conversion' -DDW_WERROR=ON \
		-DDW_BUILD_CLI=OFF -DDW_BUILD_TESTS=OFF -DDW_BUILD_EXAMPLES=OFF \
		"${places[@]}" "${@:2}"
	ninja -C "$folder/$name" durawheel_static
}

build all
build memory -DDW_WITH_SQLITE=OFF -DDW_WITH_REDIS=OFF
awk '/^```c$/ { inside = !seen++; next } /^```$/ { inside = 0 } inside' "$source/README.md" |
	sed 's/sqlite:hello.db/memory:/' >"$folder/hello.c"
musl-gcc -static -I "$source/include" "$folder/hello.c" "$source/tests/cross/musl_missing.c" \
	"$folder/memory/src/libdurawheel.a" "$libraries/libev.a" -o "$folder/hello"
said=$("$folder/hello")
[[ $said == 'order:42 was not paid in time: cancelled' ]] || {
	echo "hello says: $said" >&2
	exit 1
}
echo "musl: compiled with all stores; a timer fires"

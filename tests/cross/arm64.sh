#!/usr/bin/env bash
# Builds for arm64 with Debian's cross compiler, and runs the unit tests under qemu-user.
#
#	tests/cross/arm64.sh FOLDER
#
# FOLDER keeps Debian's arm64 libraries and the build. It needs apt-get, but not root: packages are
# only unpacked there. Left out are tests that start one of our programs, because the kernel of this
# machine does not run it.
set -euo pipefail

[[ $# == 1 ]] || {
	sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
root=$folder/root
triplet=aarch64-linux-gnu
unable=$(awk '!/^#/ && NF { print $1 }' "$source/tests/cross/unable.txt" | paste -sd '|')

# fetch: the libraries of .ci/packages for arm64, and what they depend on.
fetch()
{
	local packages apt file
	mapfile -t packages < <(awk '$1 ~ /build|test/ && $2 ~ /^lib.*-dev$/ { print $2 }' \
		"$source/.ci/packages")
	apt=(apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64
		-o Dir::State="$folder/apt" -o Dir::State::status=/dev/null
		-o Dir::Cache="$folder/apt" -o Debug::NoLocking=1)
	mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
	"${apt[@]}" update
	"${apt[@]}" --no-install-recommends --download-only install "${packages[@]}"
	rm -rf "$root"
	for file in "$folder"/apt/archives/*.deb; do
		dpkg -x "$file" "$root"
	done
}

# configure: what is C++ is left out, its cross compiler is another 300 MB.
configure()
{
	cat >"$folder/arm64.cmake" <<-END
		set(CMAKE_SYSTEM_NAME Linux)
		set(CMAKE_SYSTEM_PROCESSOR aarch64)
		set(CMAKE_C_COMPILER $triplet-gcc)
		set(CMAKE_LIBRARY_ARCHITECTURE $triplet)
		set(CMAKE_SYSROOT $root)
		set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
		set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
		set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
		set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;$root)
	END
	export PKG_CONFIG_SYSROOT_DIR=$root
	export PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig
	cmake -S "$source" -B "$folder/build" -G Ninja --toolchain "$folder/arm64.cmake" \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DDW_WERROR=ON \
		-DDW_BUILD_TESTS=ON -DDW_BUILD_EXAMPLES=OFF
}

[[ -f $root/usr/include/ev.h ]] || fetch
configure
mapfile -t tests < <(ninja -C "$folder/build" -t targets all | grep -oE '^test_[a-z0-9_]+' |
	sort -u)
ninja -C "$folder/build" src/all "${tests[@]}"
DW_TEST_SCALE=4 ctest --test-dir "$folder/build" -R '^test_' -LE '^long$' -E "^($unable)\$" \
	-j "$(($(nproc) * 2))" --timeout 1800 --output-on-failure --no-tests=error

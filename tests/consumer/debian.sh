#!/usr/bin/env bash
# Builds the Debian packages, looks at what is in them and what they depend on, unpacks them with
# dpkg into a root of their own, and there builds and starts README's first program and the command.
#
#	tests/consumer/debian.sh BUILD_DIR      a folder for this; it may exist
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
mkdir -p "$1"
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die()
{
	echo "FAILED: $*" >&2
	exit 1
}

# contains PACKAGE PATH...: these files and links, and nothing else but documentation and scripts.
contains()
{
	dpkg-deb --fsys-tarfile "$build/$1"_*.deb | tar -t | grep -v '/$' |
		grep -v -e "^./usr/share/doc/$1/" -e '^./usr/share/doc/durawheel/examples/' \
			-e '^./usr/share/durawheel/lua/' -e '^./etc/' | sort >"$work/is"
	printf './usr/%s\n' "${@:2}" | sort >"$work/wanted"
	diff "$work/wanted" "$work/is" || die "$1 has not got (<) or has besides (>) these files"
	dpkg-deb --fsys-tarfile "$build/$1"_*.deb | tar -t |
		grep "/doc/$1/copyright$" >"$work/is" ||
		die "$1 has no copyright"
}

# controls PACKAGE FILE...: these, and no other ones: no script that runs as root.
controls()
{
	dpkg-deb --ctrl-tarfile "$build/$1"_*.deb | tar -t | grep -v '/$' | sort >"$work/is"
	printf './%s\n' "${@:2}" | sort >"$work/wanted"
	diff "$work/wanted" "$work/is" || die "$1 has not got (<) or has besides (>) this control"
}

# depends PACKAGE WORDS...: each is in its Depends.
depends()
{
	local word on
	on=$(dpkg-deb -f "$build/$1"_*.deb Depends)
	for word in "${@:2}"; do
		[[ ", $on," == *", $word"[\ ,]* ]] || die "$1 does not depend on $word: $on"
	done
}

# has PACKAGE PATH...: these files, too.
has()
{
	local path
	for path in "${@:2}"; do
		dpkg-deb --fsys-tarfile "$build/$1"_*.deb | tar -t >"$work/is"
		grep -qx "./usr/share/$path" "$work/is" || die "$1 has no $path"
	done
}

build_packages()
{
	(cd "$root" && DEBFULLNAME='A Maintainer' DEBEMAIL=a@example.org \
		cmake --preset package -B "$build") &&
		cmake --build "$build" -j "$(nproc)" &&
		rm -f "$build"/*.deb && cd "$build" && cpack
}

# refuses_without PACKAGE: configuring says that cpack would fail, or write no dependencies.
refuses_without()
{
	! (cd "$root" && cmake --preset package -B "$work/none" "-DDW_PROGRAM_$1=") \
		>"$work/none.log" 2>&1 || die "it is configured without $1"
	grep -q "apt-get install $1" "$work/none.log" || die "$(tail -n 20 "$work/none.log")"
	rm -rf "$work/none"
}

refuses_without file
refuses_without dpkg-dev
(build_packages) >"$build/log" 2>&1 || die "$(tail -n 20 "$build/log")"

version=$(sed -n 's/^#define DW_VERSION "\(.*\)"/\1/p' "$root/include/durawheel/durawheel.h")
lib=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
runtime=libdurawheel${version%%.*}
contains "$runtime" "$lib/libdurawheel.so.${version%%.*}" "$lib/libdurawheel.so.$version"
mapfile -t headers < <(cd "$root" && printf '%s\n' include/durawheel/*)
contains libdurawheel-dev "$lib"/libdurawheel.{a,so} "${headers[@]}" "$lib/pkgconfig/durawheel.pc" \
	"$lib/cmake/durawheel/durawheel"{Config,ConfigVersion,Targets,Targets-release}.cmake
mapfile -t pages < <(sed -n 's/^= \([a-z ]*\): .*/\1/p' "$root/src/cli/options.txt" |
	grep -vxE 'every command|help' | tr ' ' - | sed 's|.*|share/man/man1/durawheel-&.1.gz|')
contains durawheel bin/durawheel share/bash-completion/completions/durawheel \
	share/fish/vendor_completions.d/durawheel.fish share/zsh/vendor-completions/_durawheel \
	"${pages[@]}" \
	share/man/man1/durawheel.1.gz share/man/man5/durawheel.conf.5.gz \
	share/man/man7/durawheel.7.gz \
	lib/systemd/system/durawheel{,-peer,-serve}@.service
mapfile -t scripts < <(cd "$root" && find examples ! -name CMakeLists.txt ! -name '*.sh' -type f |
	grep -vE '/(grafana|prometheus)/')
has libdurawheel-dev "${scripts[@]/#/doc/durawheel/}"
mapfile -t scripts < <(cd "$root" && find examples/{grafana,prometheus} -type f)
has durawheel "${scripts[@]/#/doc/durawheel/}"
dpkg-deb --fsys-tarfile "$build"/durawheel_*.deb | tar -t >"$work/is"
for file in sample.conf sample.env; do
	grep -qx "./etc/durawheel/$file" "$work/is" || die "durawheel has no /etc/durawheel/$file"
	dpkg-deb -I "$build"/durawheel_*.deb conffiles | grep -qx "/etc/durawheel/$file" ||
		die "an upgrade would overwrite /etc/durawheel/$file"
done
mapfile -t scripts < <(cd "$root" && printf 'lua/%s\n' README.md && # whole ones, in one folder
	find lua -mindepth 2 -name '*.lua' -not -path 'lua/common/*' -printf 'lua/%f\n')
has libdurawheel-dev "${scripts[@]/#/durawheel/}"
has durawheel doc/durawheel/README.md
has libdurawheel-dev doc/libdurawheel-dev/README.md
for package in "$runtime" libdurawheel-dev durawheel; do
	maintainer=$(dpkg-deb -f "$build/$package"_*.deb Maintainer)
	[[ $maintainer == 'A Maintainer <a@example.org>' ]] || die "maintained by $maintainer"
done
controls "$runtime" control md5sums shlibs triggers
controls libdurawheel-dev control md5sums
controls durawheel conffiles control md5sums
[[ $(dpkg-deb -I "$build/$runtime"_*.deb triggers) == 'activate-noawait ldconfig' ]] ||
	die "$runtime does not have ldconfig called"
depends "$runtime" libc6 libev4 libhiredis0.14 "libsqlite3-0 (>= 3.37)" libssl3
[[ $(dpkg-deb -f "$build/$runtime"_*.deb Recommends) == tzdata ]] ||
	die "$runtime does not recommend tzdata"
depends libdurawheel-dev "$runtime (= $version-1)" libev-dev libhiredis-dev \
	"libsqlite3-dev (>= 3.37)" "libssl-dev (>= 3.0)"
depends durawheel libc6 libev4 libinih1 libjansson4 libmicrohttpd12 "libsqlite3-0 (>= 3.37)" \
	libssl3
dpkg-deb --ctrl-tarfile "$build/$runtime"_*.deb | tar -xO ./shlibs |
	grep "^libdurawheel ${version%%.*} $runtime (>= $version-1)" >"$work/is" ||
	die "$runtime has no shlibs"

# What they depend on is this machine's, so dpkg is told not to look for it; whose ldconfig is left
# alone.
mkdir -p "$work"/root/var/lib/dpkg/{info,updates,triggers} "$work/stubs"
: >"$work/root/var/lib/dpkg/status"
printf '#!/bin/sh\n' >"$work/stubs/ldconfig"
chmod +x "$work/stubs/ldconfig"
PATH=$work/stubs:$PATH:/usr/sbin:/sbin fakeroot dpkg --root="$work/root" --log=/dev/null \
	--force-not-root --force-depends --force-script-chrootless -i "$build"/*.deb \
	>"$work/log" 2>&1 || die "$(cat "$work/log")"
[[ $(dpkg-query --root="$work/root" -W -f '${db:Status-Status}\n' | sort | uniq -c) == \
	*"3 installed" ]] || die "not all three are installed: $(cat "$work/log")"

cd "$work"
awk '/^```c$/ { inside = !seen++; next } /^```$/ { inside = 0 } inside' "$root/README.md" >hello.c
export PKG_CONFIG_LIBDIR=$work/root/usr/$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root
read -ra flags < <(PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
	pkg-config --cflags --libs durawheel)
cc hello.c "${flags[@]}" -o hello
[[ $(LD_LIBRARY_PATH=$work/root/usr/$lib ./hello) == *'was not paid in time: cancelled' ]] ||
	die "the first program"
cc "$work/root/usr/share/doc/durawheel/examples/heartbeat.c" "${flags[@]}" -o heartbeat
c++ -std=c++17 "$work/root/usr/share/doc/durawheel/examples/test_order_service.cpp" "${flags[@]}" \
	-o orders
LD_LIBRARY_PATH=$work/root/usr/$lib ./orders >out || die "the example in C++ says: $(cat out)"
"$work/root/usr/bin/durawheel" --store sqlite:t.db add --topic t --id a --in 1h >out
[[ $(cat out) == a ]] || die "the command says: $(cat out)"
echo "packages: $(cd "$build" && echo ./*.deb)"

#!/bin/sh
# run.sh: build the release and run one benchmark.
#     tests/bench/run.sh wheel|late|burst [--n N] [--json]
set -eu

usage() {
	echo "usage: tests/bench/run.sh wheel|late|burst [--n N] [--json]" >&2
	exit 2
}

[ $# -ge 1 ] || usage
case $1 in
wheel | late | burst) bench=$1 ;;
*) usage ;;
esac
shift

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/bench
{
	cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release
	cmake --build "$build" -j 2 --target "bench_$bench"
} >&2
exec "$build/tests/bench/bench_$bench" "$@"

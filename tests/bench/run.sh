#!/bin/sh
# run.sh: build the release and run one benchmark.
#     tests/bench/run.sh wheel|late|burst|news|store|path|recover|queue|http|rules|peers|servers
#         [--store sqlite|redis|memory] [--workload W] [--n N] [--json]
# memory is for late, burst and path only; queue is for redis, or sqlite.
# http is what the web server costs the owner of a million timers: 5 to 8 minutes.
# servers is TLS, replicas=1 and a cluster beside one plain Redis.
# store is the Redis store's: puts against a bare client, then burst with --store redis.
set -eu

usage() {
	echo "usage: tests/bench/run.sh" \
		"wheel|late|burst|news|store|path|recover|queue|http|rules|peers|servers" \
		"[--store sqlite|redis|memory] [--workload W] [--n N] [--json]" >&2
	exit 2
}

[ $# -ge 1 ] || usage
case $1 in
wheel | late | burst | news | path | recover | queue | http | rules | peers | servers) benches=$1 ;;
store) benches="store burst" ;;
*) usage ;;
esac
store=$1
shift

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/bench
{
	cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DDW_BUILD_TESTS=ON
	for bench in $benches; do
		cmake --build "$build" -j 2 --target "bench_$bench"
	done
} >&2
[ "$store" != store ] || set -- --store redis "$@"
for bench in $benches; do
	"$build/tests/bench/bench_$bench" "$@"
done

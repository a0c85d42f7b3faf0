#!/usr/bin/env bash
# Replicas join, are killed and stop. The example itself checks what they have fired.
#
#	tests/examples/replicas.sh BUILD_DIR
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die()
{
	echo "FAILED: $*" >&2
	tail -n 20 out errors >&2
	exit 1
}

# refused COMMAND...: its usage, and exit 2.
refused()
{
	local status=0
	"$@" >refused 2>&1 </dev/null || status=$?
	[[ $status == 2 ]] || die "$* ended with $status instead of 2"
	grep -q usage: refused || die "$* does not say its usage"
}

"$root/examples/replicas.sh" "$build" >out 2>errors || die "the replicas failed"
[[ $(grep -c ', 0 without an owner$' out) -ge 3 ]] || die "the members are not shown"
grep -q '^Proved: [0-9]* starts' out || die "nothing is proved"
[[ ! -s errors ]] || die "it is not quiet"
refused "$root/examples/replicas.sh" a b
refused "$build/examples/replica" unix:///x

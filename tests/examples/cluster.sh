#!/usr/bin/env bash
# Three peers in a cluster: a master and a peer are killed. The example itself checks what they
# have written.
#
#	tests/examples/cluster.sh BUILD_DIR
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

"$root/examples/quickstart.sh" --cluster "$build" >out 2>errors || die "the quickstart failed"
grep -q '^Proved: of 124 reminders, 1[0-9]* were given once, [0-9]* twice, and 0 lost;' out ||
	die "nothing is proved"
[[ ! -s errors ]] || die "it is not quiet"
refused "$root/examples/quickstart.sh" --clusters
refused "$root/examples/quickstart.sh" --cluster . .
refused "$build/examples/exam_reminders" --peer --until-idle "$root/examples/aqa-gcse-2023.csv"
refused "$build/examples/exam_reminders" --peer --daily "$root/examples/aqa-gcse-2023.csv"

#!/usr/bin/env bash
# What a timer costs in instructions has not grown.
#
#	tests/bench/path.sh PROGRAM            compares with path.txt: 5 % more is a failure
#	tests/bench/path.sh PROGRAM --update   writes path.txt
#
# PROGRAM is bench_path of a release. The counts are those of Debian 12 on amd64; elsewhere nothing
# is compared. How often a program turns while it waits for a server varies, so the least count of
# three runs stands in path.txt, and it may have three tries. What a renewal costs is not compared:
# an idle owner does other things, too.
set -euo pipefail

program=$1
here=$(cd "$(dirname "$0")" && pwd)
known=$here/path.txt
stores=(memory sqlite redis)

# measure STORE: lines "STORE OPERATION INSTRUCTIONS".
measure()
{
	local name='.*"workload":"\([a-z_]*\)".*'
	local count='"metric":"instructions","value":\([0-9]*\).*'
	"$program" --store "$1" --json | sed -n "s/$name$count/$1 \\1 \\2/p" | grep -v renewal
}

# least: the least count of each operation.
least()
{
	sort -k1,1 -k2,2 -k3,3n | awk '!seen[$1 " " $2]++'
}

# grown: the operations whose least count is more than 5 % over that of path.txt. One that does not
# stand there has grown.
grown()
{
	least | awk '{ name = $1 " " $2 }
		NR == FNR { known[name] = $3; next }
		NF && $3 > known[name] * 1.05 { print name ": " $3 " and not " known[name] }' \
		"$known" -
}

if [[ ${2:-} == --update ]]; then
	for store in "${stores[@]}" "${stores[@]}" "${stores[@]}"; do
		measure "$store"
	done | least >"$known.new"
	mv "$known.new" "$known"
	exit 0
fi
if [[ $(uname -m) != x86_64 ]] || ! grep -q '^VERSION_ID="12"' /etc/os-release; then
	echo "NOT TESTED: path.txt has the counts of Debian 12 on amd64"
	exit 77
fi
failed=0
for store in "${stores[@]}"; do
	counts=
	for _ in 1 2 3; do
		counts+=$(measure "$store")$'\n'
		more=$(grown <<<"$counts")
		[[ $more ]] || break
	done
	printf '%s' "$counts"
	if [[ $more || $counts != *" put "* ]]; then
		failed=1
		echo "FAILED: a timer costs more: ${more:-$store: nothing was counted}"
		echo "If it has to, write path.txt anew with --update, and say why."
	fi
done
exit $failed

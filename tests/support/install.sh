#!/usr/bin/env bash
# Installs the missing Debian packages of .ci/packages.
#
#	tests/support/install.sh GROUP...        build, test, redis, cross
#
# If no package is missing, it needs neither root nor a network.
set -euo pipefail

list=$(cd "$(dirname "$0")/../.." && pwd)/.ci/packages
missing=()
for group; do
	while read -r package; do
		state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
		[[ $state == installed ]] || missing+=("$package")
	done < <(awk -v group="$group" '$1 == group { print $2 }' "$list")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

echo "installing: ${missing[*]}"
as_root=()
if [[ $(id -u) != 0 ]]; then
	if ! command -v sudo >/dev/null; then
		echo "neither root nor sudo: install them yourself, then start again" >&2
		exit 1
	fi
	as_root=(sudo)
fi
# told: what apt-get does, a line each: how much it downloads, and each package that is there.
told()
{
	local line all=${#missing[@]} unpacked=0 ready=0
	while read -r line; do
		case $line in
		*' newly installed, '*) all=$(sed -E 's/.* ([0-9]+) newly.*/\1/' <<<"$line") ;;
		'Need to get '*) echo "downloading ${line#Need to get } ($all packages)" ;;
		'Unpacking '*) echo "unpacking $((unpacked += 1)) of $all: ${line#Unpacking }" ;;
		'Setting up '*) echo "setting up $((ready += 1)) of $all: ${line#Setting up }" ;;
		esac
	done
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update &&
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
		--no-install-recommends "${missing[@]}"; } 2>&1 </dev/null | tee "$log" | told; then
	tail -n 20 "$log" >&2
	echo "cannot install ${missing[*]}" >&2
	exit 1
fi
echo "installed ${#missing[@]} packages"

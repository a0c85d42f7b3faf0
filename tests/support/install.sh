#!/usr/bin/env bash
# Installs the missing Debian packages of .ci/packages.
#
#	tests/support/install.sh GROUP...        build, test, redis
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
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update &&
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
		--no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
	tail -n 20 "$log" >&2
	echo "cannot install ${missing[*]}" >&2
	exit 1
fi

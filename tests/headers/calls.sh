#!/usr/bin/env bash
# durawheel.hpp calls every function of the public headers that takes a handle.
#
#	tests/headers/calls.sh
set -euo pipefail

include=$(cd "$(dirname "$0")/../../include/durawheel" && pwd)
# Left out: after() and at() call dw_after_id() and dw_put(), and the callers of C need no callback.
left_out=' dw_after dw_at '
functions=$(cat "$include"/*.h | tr -s '\n\t ' ' ' | grep -o 'DW_API [^;(]*(\(const \)\?dw \*[^*]' |
	sed 's/.*[ *]\(dw_[a-z_]*\)(.*/\1/')
[ "$(wc -l <<<"$functions")" -gt 40 ] || { echo "few functions are found: $functions"; exit 1; }
calls=$(grep -v '^[[:space:]]*/\?\*' "$include/durawheel.hpp") # without comments
code=0
for function in $functions; do
	[[ $left_out != *" $function "* ]] || continue
	grep -q "\b${function}[(,)]" <<<"$calls" || {
		echo "durawheel.hpp does not call $function()"
		code=1
	}
done
exit $code

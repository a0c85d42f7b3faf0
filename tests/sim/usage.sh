#!/usr/bin/env bash
# The simulator must refuse arguments that are not numbers, and must not run another seed instead.
#
#	tests/sim/usage.sh SIM
set -uo pipefail

sim=$1
failed=0

# refused WORDS ARGUMENT...: exit 2, and the message has the words.
refused()
{
	local words=$1 message code=0
	shift
	message=$("$sim" "$@" 2>&1) || code=$?
	if [[ $code != 2 || $message != *"$words"* ]]; then
		echo "sim $*: exit $code, $message"
		failed=1
	fi
}

for bad in 0x 0xg -1 ' 5' 5s 1e3 '' 18446744073709551616; do
	refused 'not a number' --seed "$bad"
	refused 'not a number' --seeds "$bad"
	refused 'not a number' --seeds 1 --first "$bad"
done
refused 'at least 1' --seeds 0
refused usage
refused usage --seed
refused usage --nonsense 5
refused usage --seed 1 --bug nonsense
DW_TEST_SCALE=many refused 'DW_TEST_SCALE=many' --seeds 1
[[ $("$sim" --seed 0x10) == "$("$sim" --seed 16)" ]] || failed=1
exit $failed

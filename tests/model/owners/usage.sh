#!/usr/bin/env bash
# A search must be the one asked for, and its result the exit code.
#
#	tests/model/owners/usage.sh OWNERS_MODEL
set -uo pipefail

model=$1
failed=0

# exits CODE WORDS ARGUMENT...: and its output has the words.
exits()
{
	local code=$1 words=$2 output actual=0
	shift 2
	output=$("$model" "$@" 2>&1) || actual=$?
	if [[ $actual != "$code" || $output != *"$words"* ]]; then
		echo "owners_model $*: exit $actual, $output"
		failed=1
	fi
}

exits 0 ' 0 violations' --world 0 --faults 0
exits 0 'stopped at the limit' --world 0 --limit 100
exits 1 'ONE is broken' --world 0 --puts 0 --without wait
exits 1 'ONE is broken' --world 0 --faults 0 --jumps 1 --limit 10000
exits 1 'ONE is broken' --world 4 --permits 1 --limit 100000
exits 2 'usage' --world 0 --without nonsense
exits 2 'usage' --world 99
exits 2 'usage' --faults 1
exits 2 'not a number' --world 0 --faults many
exit $failed

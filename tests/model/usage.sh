#!/usr/bin/env bash
# A search must be the one asked for, and its result the exit code.
#
#	tests/model/usage.sh JOURNAL_MODEL
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
		echo "journal_model $*: exit $actual, $output"
		failed=1
	fi
}

exits 0 ' 0 violations' --puts 1
exits 0 'stopped at the limit' --puts 1 --limit 100
exits 1 'J3 is broken' --client-puts 1 --without absent
exits 2 'usage' --puts 2 --client-puts 2
exits 2 'usage' --without nonsense
exits 2 'usage' --nonsense
exits 2 'usage' --faults
exits 2 'not a number' --faults many
exit $failed

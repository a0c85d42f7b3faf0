#!/usr/bin/env bash
# Checks the output of exam_reminders: of one run, or of several if it was killed and restarted.
#
#	tests/support/check_reminders.sh [--redis | --cluster] TIMETABLE.csv OUTPUT...
#
# Every paper of the timetable must be in some output, and at most once in each. Each output must be
# in the order of the deadlines, and papers with equal deadlines in the order of the file. In Redis
# this is so for papers that are late by 1 ms at most: a paper that is on time does not wait for the
# claim of another one in another shard (engine/due/late.h). Over the masters of a cluster there is
# no common order: each has a clock of its own. A repeated paper must name its attempt. No paper may
# be early.
set -euo pipefail

waits=1e9
[[ $1 != --redis ]] || { waits=1; shift; }
[[ $1 != --cluster ]] || { waits=-1; shift; }

awk -v waits=$waits '
function wrong(text) { print "WRONG: " text; failed++ }

# The unit of a line of the timetable, of which the order is that of the reminders.
function read_paper(    unit, start) {
	unit = $0
	if (unit ~ /^"/) { unit = substr(unit, 2); sub(/".*/, "", unit) }
	else sub(/,.*/, "", unit)
	match($0, /[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T/)
	start = substr($0, RSTART, 19)
	if (start < last_start) wrong("the timetable is not in order: " $0)
	last_start = start
	row[unit] = ++papers
	name[papers] = unit
}

function read_reminder(    text, unit, late, attempt) {
	text = $0
	sub(/ \(due before this start\)/, "", text)
	if (!match(text, /   -?[0-9.]+ ms after its time(, attempt [0-9]+)?$/)) {
		wrong("not a whole line: " $0)
		return
	}
	late = substr(text, RSTART) + 0
	attempt = text ~ /, attempt / ? substr(text, RSTART + RLENGTH - 1) + 0 : 1
	text = substr(text, 1, RSTART - 1)
	unit = text
	sub(/\)$/, "", unit)
	while (!(unit in row) && (cut = index(unit, "("))) unit = substr(unit, cut + 1)
	if (!(unit in row)) { wrong("no such paper: " $0); return }
	if (row[unit] <= last && late <= waits) wrong("out of order, after \"" name[last] "\": " $0)
	if (late <= waits) last = row[unit]
	if (late < 0) wrong("early: " $0)
	if (seen[unit]++) {
		repeated++
		if (attempt < seen[unit]) wrong("repeated without saying so: " $0)
	}
	if (late > latest[output]) latest[output] = late
	given[output]++
}

FNR == 1 { output++; last = 0 }
output == 1 { if (FNR > 1) read_paper(); next }
{ read_reminder() }

END {
	for (i = 1; i <= papers; i++) {
		if (!seen[name[i]]) wrong("never given: " name[i])
		if (seen[name[i]] > ARGC - 2) wrong("given too often: " name[i])
	}
	if (papers == 0) wrong("the timetable is empty")
	if (failed) exit 1
	printf "%d papers: ", papers
	for (i = 2; i < ARGC; i++)
		printf "%d in run %d, ", given[i], i - 1
	printf "%d repeated; in run 1 the latest came %.3f ms after its time\n", repeated, latest[2]
}' "$@"

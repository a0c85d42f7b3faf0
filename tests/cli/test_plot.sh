# The bars of durawheel top and stats --plot.
# shellcheck shell=bash disable=SC2154,SC2034

# bar_at ROW N: the character of bar N in this row of the picture in the file out.
bar_at() {
	local line
	line=$(grep "^$1" out)
	printf '%s' "${line:10+$2:1}"
}

test_top_has_bars_of_what_comes_due() {
	for i in 1 2 3; do
		expect 0 durawheel add --topic t --in 30m55s
	done
	expect 0 durawheel add --topic t --in 10m55s
	expect 0 durawheel add --topic t --in 90000s
	expect 0 durawheel top
	[ "$(bar_at 'next hour' 30)" = @ ] || fail "$(cat out)"
	[ "$(bar_at 'next hour' 10)" = - ] || fail "$(cat out)"
	[ "$(grep '^next hour' out | tr -d ' @-')" = nexthour4 ] || fail "$(cat out)"
	[ "$(bar_at 'next day' 0)$(bar_at 'next day' 1)" = @@ ] || fail "$(cat out)"
	grep -q '^next day .* 4$' out
	lacks '^(late|started) .*[.:@]' out
	LC_ALL=C.UTF-8 TERM=xterm expect 0 durawheel top
	[ "$(LC_ALL=C.UTF-8 bar_at 'next hour' 30)" = █ ] || fail "$(cat out)"
	LC_ALL=C.UTF-8 TERM=linux expect 0 durawheel top
	[ "$(bar_at 'next hour' 30)" = @ ] || fail "$(cat out)"
}

test_top_has_colours_on_a_terminal_only() {
	expect 0 durawheel add --topic t --in 10m
	start
	export TERM=xterm
	on_terminal 'await=next hour .*late .*started ' send=q end=0 -- durawheel top
	grep -q $'\e\[36mnext hour' screen
	NO_COLOR=1 on_terminal 'await=next hour .*late ' send=q end=0 -- durawheel top
	lacks $'\e\[[0-9;]*m' screen
	NO_COLOR='' on_terminal 'await=next hour .*late ' send=q end=0 -- durawheel top
	grep -q $'\e\[36mnext hour' screen
	expect 0 durawheel top
	lacks $'\e' out
	stop_owner
}

# has_whole_lines COLUMNS: the last picture has no longer line, and what is cut ends behind a word.
has_whole_lines() {
	python3 - "$1" <<'END'
import re, sys
lines = open("screen", "rb").read().split(b"\x1b[H")[-1].split(b"\x1b[J")[0].decode().split("\r\n")
words = {"timers", "pending,", "lateness", "p50", "p99", "max", "-,", "-;", "store", "handlers"}
for line in lines:
    line = re.sub("\x1b\\[[0-9;]*[mK]|\r", "", line)
    assert len(line) <= int(sys.argv[1]), line
    if line.startswith(("lateness", "handlers")):
        assert set(line.replace("...", "").split()) <= words | {"-"}, line
END
}

test_top_cuts_no_word() {
	local columns
	expect 0 durawheel add --topic t --in 10m
	start
	for columns in 80 60 40 39 38 36 35 30 20; do
		on_terminal "24x$columns" 'await=TOPIC|PENDING' 'await=q quits|1 topics' send=q \
			end=0 -- durawheel top
		has_whole_lines "$columns" || fail "$columns: $(tail -c 1500 screen)"
	done
	stop_owner
}

test_stats_plots_the_histograms() {
	for i in $(seq 9); do
		echo "{\"id\":\"$i\",\"topic\":\"t\",\"in\":\"0\"}"
	done >lines
	expect 0 durawheel import lines
	expect 3 durawheel stats --plot
	says 'there is no owner'
	start --topic t --exec 'sleep 0.02'
	await told_of 9
	expect 0 durawheel stats --json
	mv out told
	expect 0 durawheel stats --plot
	python3 - <<'END' || fail "$(cat out)"
import json, re
told = json.load(open("told"))["owner_report"]
found = {}
for line in open("out"):
    if not line.startswith(" "):
        key = "lateness" if "late" in line else "handler"
        assert line.endswith(", of 9\n"), line
        found[key] = []
        continue
    words, count, bar = re.match(r"  (\S.*\S) +([0-9]+)  (#*)$", line.rstrip("\n")).groups()
    found[key].append((int(count), len(bar)))
for key, rows in found.items():
    counts = told[key + "_buckets"]
    first = next(i for i, count in enumerate(counts) if count)
    assert [count for count, _ in rows] == counts[first:first + len(rows)], (rows, counts)
    assert sum(count for count, _ in rows) == sum(counts) == 9
    most = max(count for count, _ in rows)
    for count, bar in rows:
        assert bar == int(count * 44 / most + .5), rows
END
	expect 2 durawheel stats --plot --json
	says 'use one'
	stop_owner
}

told_of() {
	durawheel stats --json | grep -q "\"settled\":$1,"
}

# add, cancel, show, list, stats.
# shellcheck shell=bash disable=SC2154,SC2034

test_add_prints_the_id_once() {
	expect 0 durawheel add --topic t --in 1h --id order:42
	prints order:42
	is_counted err 0
}

test_add_makes_unique_ids() {
	for _ in 1 2 3; do
		expect 0 durawheel add --topic t --in 1h
		is_counted out 1
		cat out >>ids
	done
	[ "$(sort -u ids | wc -l)" = 3 ]
	expect 0 durawheel show "$(tail -n 1 ids)"
}

test_add_replaces_unless_new() {
	expect 0 durawheel add --topic t --in 1h --id a --data one
	expect 0 durawheel add --topic t --in 1h --id a --data two
	expect 4 durawheel add --topic t --in 1h --id a --data three --new
	says '^durawheel: a: the id has a timer already'
	expect 0 durawheel list --json
	is_counted out 1
	grep -q '"data":"two"' out
	expect 0 durawheel add --topic t --in 1h --id b --new
}

test_add_keeps_a_part_of_the_timer() {
	expect 0 durawheel add --topic t --id a --at 2100-01-01T00:00:00Z --data one
	expect 0 durawheel add --topic t --id a --at 2101-01-01T00:00:00Z --due-earliest --data two
	expect 0 durawheel show a --json
	grep -q '"due":4102444800000000,.*"data":"two"' out
	expect 0 durawheel add --topic t --id a --at 2102-01-01T00:00:00Z --due-latest --data-first
	expect 0 durawheel show a --json
	grep -q '"due":4165516800000000,.*"data":"two"' out
	expect 0 durawheel add --topic t --id a --in 1h --due-latest --wait-max 30m
	expect 0 durawheel list --due-before "$(date -u -d '31 minutes' +%Y-%m-%dT%H:%M:%SZ)" --json
	is_counted out 1
	for words in '--new --due-latest' '--due-earliest --due-latest' '--wait-max 1m' \
		'--due-latest --wait-max 0' '--due-latest --every 1m'; do
		read -ra bad <<<"$words"
		expect 2 durawheel add --topic t --id b --in 1h "${bad[@]}"
	done
}

# debounce N: puts the timer so many times, each due 3 s later, and notes the last deadline.
debounce() {
	local i due
	for ((i = 0; i < $1; i++)); do
		due=$(($(date +%s%N) / 1000 + 3000000))
		echo "$due" >>dues
		durawheel add --topic t --id a --due-latest --at "${due:0:10}.${due:10}" >/dev/null
	done
}

test_debounced_by_three_clients_fires_once_at_the_last_deadline() {
	start
	debounce 34 & debounce 33 & debounce 33 &
	await is_counted dues 100
	wait %2 %3 %4
	last=$(sort -n dues | tail -n 1)
	await grep -q "\"due\":$last," fired
	# A client that is slow may begin another series, after the firing.
	[ "$(wc -l <fired)" -lt 100 ]
	stop_owner
}

test_add_at_is_exact() {
	expect 0 durawheel add --topic t --id a --at 2100-01-01T00:00:00.000001+02:00
	expect 0 durawheel show --json a
	grep -q '"due":4102437600000001,' out
	expect 0 durawheel show a
	grep -q '^due  *2099-12-31T22:00:00.000001Z, in [0-9]*d[0-9hms]*$' out
}

test_add_in_counts_from_now() {
	before=${EPOCHREALTIME/./}
	expect 0 durawheel add --topic t --id a --in 1h30m
	after=${EPOCHREALTIME/./}
	expect 0 durawheel show --json a
	due=$(sed 's/.*"due":\([0-9]*\).*/\1/' out)
	[ "$due" -ge $((before + 5400000000)) ] && [ "$due" -le $((after + 5400000000)) ]
}

test_add_takes_data_as_bytes() {
	printf 'a\0\377\n' >data
	expect 0 durawheel add --topic t --in 1h --id a --data-file data
	expect 0 durawheel show --json a
	grep -q '"data_base64":"YQD/Cg=="}$' out
	expect 0 durawheel show a
	grep -q '^data  *a\\x00\\xff\\x0a$' out
	expect 0 durawheel add --topic t --in 1h --id b --data-file - < <(printf '"\303\244\0')
	expect 0 durawheel show --json b
	grep -qF '"data":"\"ä\u0000"}' out
	expect 0 durawheel add --topic t --in 1h --id c
	expect 0 durawheel show --json c
	grep -q '"data":""}$' out
}

test_add_takes_a_mebibyte_and_no_more() {
	text 1048576 >data
	expect 0 durawheel add --topic t --in 1h --id a --data-file data
	expect 0 durawheel show --json a
	[ "$(wc -c <out)" -gt 1048576 ]
	text 1048577 >data
	expect 1 durawheel add --topic t --in 1h --id a --data-file data
	says 'data has more than 1048576 bytes'
	expect 1 durawheel add --topic t --in 1h --data-file missing
	says 'cannot open missing: No such file'
	expect 1 durawheel add --topic t --in 1h --data-file .
	says 'cannot read .: Is a directory'
}

test_cancel_is_silent_and_final() {
	expect 0 durawheel add --topic t --in 0s --id a
	expect 0 durawheel add --topic t --in 1h --id b
	expect 0 durawheel cancel a b
	is_counted out 0
	is_counted err 0
	expect 3 durawheel cancel a
	says '^durawheel: a: no such timer'
	expect 0 durawheel run --until-idle
	is_counted out 0
}

test_cancel_names_each_id_and_the_worst_wins() {
	expect 0 durawheel add --topic t --in 1h --id a
	expect 3 durawheel cancel x a y
	is_counted err 2
	says '^durawheel: y: no such timer'
	expect 3 durawheel show a
}

# fill_store: 1,500 timers of topic a due in 2100, and 3 of topic b.
fill_store() {
	seq 1500 | sed 's/.*/{"id":"a:&","topic":"a","at":"2100-01-01T00:00:00Z"}/' >lines
	printf '{"id":"b:%s","topic":"b","at":"210%s-06-01T00:00:00Z"}\n' 1 1 2 2 3 3 >>lines
	expect 0 durawheel import lines
}

test_cancel_by_topic_and_prefix() {
	fill_store
	expect 0 durawheel cancel --topic a --dry-run
	[ "$(cat out)" = 'would cancel 1500' ]
	expect 0 durawheel cancel --prefix a: --dry-run --json
	[ "$(cat out)" = '{"matched":1500}' ]
	expect 2 durawheel cancel --topic a
	says '1500 timers match; write --yes'
	expect 0 durawheel cancel --topic a --prefix a:1 # 1, 10 to 19, 100 to 199, 1000 to 1500
	[ "$(cat out)" = 'cancelled 612' ]
	expect 0 durawheel list --prefix a:1
	is_counted out 1 # the header
	expect 0 durawheel cancel --topic b --prefix a
	[ "$(cat out)" = 'cancelled 0' ]
	expect 0 durawheel cancel --topic a --yes --json
	[ "$(cat out)" = '{"matched":888,"cancelled":888,"late":0,"gone":0,"failed":0}' ]
	expect 0 durawheel stats --json
	grep -q '"pending":3,' out
}

test_cancel_and_list_by_deadline() {
	fill_store
	expect 0 durawheel list --json --due-from 2101-06-01T00:00:00Z \
		--due-before 2103-06-01T00:00:00Z
	[ "$(ids_of out | tr '\n' ' ')" = 'b:1 b:2 ' ]
	expect 0 durawheel cancel --due-from 2101-06-01T00:00:01Z
	[ "$(cat out)" = 'cancelled 2' ]
	expect 0 durawheel list --topic b --json
	[ "$(ids_of out)" = b:1 ]
	expect 0 durawheel cancel --due-before 2100-01-01T00:00:00Z
	[ "$(cat out)" = 'cancelled 0' ]
	expect 2 durawheel cancel --due-from 2101-01-01T00:00:00Z --due-before 2100-01-01T00:00:00Z
	says '--due-before is not after --due-from'
	for bound in --due-from --due-before; do
		expect 2 durawheel cancel --topic b "$bound" @0
		says "^durawheel: $bound \"@0\" is the time 0, which means no bound: write another"
	done
	expect 0 durawheel list --json --due-before 1965-01-01T00:00:00Z
	is_counted out 0
	expect 2 durawheel list --due-before tomorrow
	says '--due-before "tomorrow" is not a time: .*, or a duration from now, as 5min$'
	expect 2 durawheel list --due-before 106751992d
	says '--due-before "106751992d" is too long'
	expect 0 durawheel add --topic c --id soon --in 1h
	expect 0 durawheel list --json --due-from 59min --due-before 61min
	[ "$(ids_of out)" = soon ]
	expect 0 durawheel list --json --due-before 0
	is_counted out 0
	expect 2 durawheel add --topic t --at 5min
	says '--at "5min" is a duration and not a time: .*; --in takes durations$'
	expect 2 durawheel add --topic t --at 0
	says '--at "0" is not a time: seconds since 1970 have 9 to 12 digits, as 1780306200'
	expect 2 durawheel add --topic t --at 1780306200000
	says '--at "1780306200000" is not a time: it looks like milliseconds; .*, as @1780306200,'
	expect 0 durawheel help import
	grep -q 'attempts and retries from zero:' out
	expect 2 durawheel move soon --at 5min
	says '; --in takes durations$'
	echo '{"topic":"t","at":"5min"}' >lines
	expect 1 durawheel import lines
	says 'line 1: "at":"5min" is a duration and not a time: .*; "in" takes durations$'
	expect 2 durawheel add --topic t --every 1h --from 5min
	says '--from "5min" is a duration and not a time: write "in 5min", '
}

test_cancel_of_a_stream() {
	fill_store
	printf 'a:1\n\nnone\r\na:2\r\n%0300d\na\tb\nb:1' 7 >ids
	expect 3 durawheel cancel - <ids
	[ "$(cat out)" = 'cancelled 3, too late 0, no such timer 1, failed 2' ]
	says '^durawheel: line 3: none: no such timer'
	says '^durawheel: line 5: is no id: at most 255 bytes'
	says '^durawheel: line 6: a.x09b: the id is not UTF-8 without control characters$'
	sed 's/.*"id":"\([^"]*\)".*/\1/' lines >ids
	expect 3 durawheel cancel --json - <ids
	[ "$(cat out)" = '{"cancelled":1500,"late":0,"absent":3,"failed":0}' ]
	expect 0 durawheel stats --json
	grep -q '"pending":0,' out
	expect 0 durawheel cancel - </dev/null
	[ "$(cat out)" = 'cancelled 0, too late 0, no such timer 0, failed 0' ]
}

# A deadline may be any number. Its distance from now, and its local time, may be none.
test_deadlines_of_long_ago_are_shown() {
	local id command when
	printf '{"id":"%s","topic":"t","due":%s}\n' least -9223372036854775808 zero 0 \
		never 9223372036854775807 >lines
	expect 0 durawheel import lines
	for id in least zero; do
		when='1970-01-01T00:00:00.000000Z, [0-9]*d[0-9]*h ago'
		[ "$id" = zero ] || when='-290308-12-21T19:59:05.224192Z, 106751991d4h ago'
		for command in show why; do
			expect 0 durawheel $command $id
			grep -qx "due  *$when" out || fail "$command: $(cat out)"
		done
	done
	expect 0 durawheel why --json least
	grep -qF '{"what":"due","words":"","at":-9223372036854775808}' out
	for command in list 'show least' 'why least' 'show never' 'why never'; do
		# shellcheck disable=SC2086
		expect 0 durawheel $command --zone America/New_York
		grep -q -e -290308-12-21T -e never out || fail "$command: $(cat out)"
	done
	expect 0 durawheel cancel never
	expect 0 durawheel topic set t --keep 1d
	expect 0 durawheel run --until-idle --exec true
	expect 3 durawheel show least
	grep -q '^done .* late, by ' out
	expect 3 durawheel why least
	grep -q '^was due  *-290308-' out
	grep -q '^started .* late$' out
}

test_cancel_options_are_checked() {
	expect 0 durawheel add --topic t --in 1h --id a
	expect 2 durawheel cancel
	says 'write ids, -, or options like --topic'
	expect 2 durawheel cancel a --topic t
	says 'not both'
	expect 2 durawheel cancel a --yes
	says '--yes is for --topic'
	expect 2 durawheel cancel a --zone UTC
	says '--zone is for --topic'
	expect 2 durawheel cancel a --json
	says '--json is for -'
	expect 2 durawheel cancel --prefix ''
	says '--prefix "": write how the ids begin'
	expect 2 durawheel cancel --topic t --topic u
	says 'write --topic once'
	expect 2 durawheel cancel --topic t --journal j
	says '--journal is for ids'
	expect 0 durawheel show a
}

test_move_changes_the_deadline_alone() {
	expect 0 durawheel add --topic t --in 1h --id a --data hi
	expect 0 durawheel move a --at 2100-01-01T00:00:00Z
	is_counted out 0
	is_counted err 0
	expect 0 durawheel show a --json
	grep -q '"topic":"t","due":4102444800000000,"state":"pending","attempt":0,' out
	grep -q '"data":"hi"}$' out
	expect 0 durawheel move a --in 0
	expect 0 durawheel run --until-idle
	[ "$(ids_of out)" = a ]
	expect 3 durawheel move a --in 1h
	says '^durawheel: a: no such timer'
}

test_move_of_what_runs_is_too_late() {
	expect 0 durawheel add --topic t --in 0 --id a
	start --exec 'echo >begun; until [ -e go ]; do sleep 0.02; done'
	await test -e begun
	expect 5 durawheel move a --in 1h
	says '^durawheel: a: too late'
	touch go
	await is_counted fired 1
	expect 0 durawheel add --topic t --in 1h --id b
	expect 0 durawheel move b --in 0
	await is_counted fired 2
	stop_owner
}

test_move_wants_an_id_and_a_time() {
	empty_store
	expect 2 durawheel move --in 1h
	expect 3 durawheel move a b --in 1h
	says 'b: no such timer'
	expect 2 durawheel move a
	says 'move: exactly one of --in DURATION and --at TIME is required'
	expect 2 durawheel move a --in 1h --at 2100-01-01T00:00:00Z
	expect 2 durawheel move '' --in 1h
	expect 2 durawheel move a --in 1h --topic t
	says 'move has no option --topic'
}

test_show_of_nothing_is_absent() {
	empty_store
	expect 3 durawheel show a
	says '^durawheel: a: no such timer'
	expect 2 durawheel show
	expect 3 durawheel show a b
}

test_show_json_has_these_keys() {
	expect 0 durawheel add --topic t --in 1h --id a --data hi
	expect 0 durawheel show a --json
	pattern='{"id":"a","topic":"t","due":[0-9]*,"state":"pending","attempt":0,'
	grep -qx "$pattern"'"retries":0,"generation":[0-9]*,"data":"hi"}' out
	sed 's/"retries":0,"generation":[0-9]*,//' out >shown
	expect 0 durawheel list --json
	cmp out shown
}

test_list_is_in_the_order_of_deadlines() {
	expect 0 durawheel add --topic t --id c --at 2100-01-01T00:00:00Z
	expect 0 durawheel add --topic u --id a --at 2101-01-01T00:00:00Z
	expect 0 durawheel add --topic t --id b --at 2100-01-01T00:00:00Z
	expect 0 durawheel list --json
	[ "$(ids_of out | tr '\n' ' ')" = 'c b a ' ]
	expect 0 durawheel list --json --topic t
	[ "$(ids_of out | tr '\n' ' ')" = 'c b ' ]
	expect 0 durawheel list --json --limit 1
	[ "$(ids_of out)" = c ]
	expect 0 durawheel list --topic nothing
	is_counted out 1
	expect 0 durawheel list
	is_counted out 4
	grep -q '^2100-01-01T00:00:00.000000Z in [0-9dhms]*  *c  *t  *pending  *0  *0$' out
}

# widths_before WORD...: how many characters stand before these words in the lines of out.
widths_before() {
	sed -E "s/ ($1) .*//" out | while IFS= read -r line; do
		printf %s "$line" | LC_ALL=C.UTF-8 wc -m
	done | sort -u
}

test_list_is_aligned() {
	expect 0 durawheel add --topic t --id short --at 2020-01-01T00:00:00Z
	expect 0 durawheel add --topic t --id "a rather longer id than that" --in 1h
	expect 0 durawheel add --topic "Ä-topic" --id $'\xc3\xa4' --at 2100-01-01T00:00:00Z
	expect 0 durawheel list
	is_counted out 4
	[ "$(widths_before 'pending|STATE' | wc -l)" = 1 ] || fail "$(cat out)"
	grep -q '^2020-01-01T00:00:00.000000Z [0-9]*d[0-9hms]* ago  *short ' out
	grep -q 'Z in 59m[0-9]*s  *a rather' out
}

test_list_has_as_many_pages_as_needed() {
	many 2500 | durawheel import
	for limit in 1 999 1000 1001 2500 9999; do
		expect 0 durawheel list --json --limit $limit
		is_counted out $((limit < 2500 ? limit : 2500))
	done
	expect 0 durawheel list --json
	[ "$(ids_of out | sort -c && ids_of out | sort -u | wc -l)" = 2500 ]
}

test_stats_counts() {
	empty_store
	expect 0 durawheel stats
	grep -q '^pending  *0$' out
	grep -q '^next due  *never$' out
	grep -q '^owner  *none: nothing fires until one runs$' out
	expect 0 durawheel add --topic t --id a --at 2100-01-01T00:00:00Z
	expect 0 durawheel stats --json
	grep -q '^{"pending":1,"claimed":0,"dead":0,"next_due":4102444800000000,"inbox":' out
	start
	expect 0 durawheel stats
	grep -q '^next due  *2100-01-01T00:00:00.000000Z, in ' out
	grep -q "^owner  *.*, pid $owner, durawheel" out
	grep -q '^seen  *20.*Z, .* ago$' out
	has_row '  timers  *[0-9]*'
	has_row '  store p99  *[0-9][0-9musd]*'
	has_row '  recovering  *[yn][eos]*'
	has_row '  last error  *none'
	stop_owner
}

# has_row PATTERN: what stats says to people.
has_row() {
	durawheel stats | grep -q "^$1$"
}

test_stats_counts_the_dead() {
	expect 0 durawheel add --topic t --at 2020-01-01T00:00:00Z --late-after 1s
	expect 0 durawheel run --until-idle
	is_counted out 0
	await has_count dead 1
	has_row ' *could not be delivered: durawheel dead list'
}

# Commands that find no file yet make it, and whoever comes second must find it whole.
test_commands_make_the_file_at_the_same_time() {
	local round rounds
	rounds=$(scaled 30)
	for ((round = 1; round <= rounds; round++)); do
		export DURAWHEEL_STORE=sqlite:new$round.db
		commands=()
		for id in a b c; do
			durawheel add --topic t --in 1h --id $id >/dev/null 2>>log &
			commands+=($!)
		done
		for command in "${commands[@]}"; do
			wait "$command" || fail "round $round: $(cat log)"
		done
		has_count pending 3 || fail "round $round: not all three"
	done
}

test_move_and_show_take_several_ids() {
	expect 0 durawheel add --topic t --id a:1 --in 1h
	expect 0 durawheel add --topic t --id "it's" --in 1h
	expect 0 durawheel move "it's" a:1 --at 2100-01-01T00:00:00Z
	is_counted out 0
	expect 0 durawheel list --json --due-from 2100-01-01T00:00:00Z
	is_counted out 2
	expect 3 durawheel move nothing a:1 --at 2100-01-02T00:00:00Z
	says '^durawheel: nothing: no such timer'
	expect 0 durawheel show a:1 --json
	grep -q '"due":4102531200000000,' out
	expect 0 durawheel show "it's" a:1 --json
	[ "$(ids_of out | tr '\n' ' ')" = "it's a:1 " ]
	expect 0 durawheel show "it's" a:1
	[ "$(grep -c '^id  ' out)" = 2 ]
	expect 3 durawheel show nothing a:1
	says '^durawheel: nothing: no such timer'
	[ "$(grep -c '^id  ' out)" = 1 ]
}

test_a_hint_has_the_id_as_a_shell_takes_it() {
	for id in plain "it's" 'two words' '*' '-dash' '";<&'; do
		expect 0 durawheel add --topic t "--id=$id" --in 1h
		expect 4 durawheel add --topic t "--id=$id" --in 1h --once
		sed -n 's/.* see //p' err >commands
		expect 1 durawheel when -- "$id"
		sed -n 's/.* see //p' err >>commands
		is_counted commands 2
		expect 0 sh -e ./commands
		[ "$(grep -cF -e "id               $id" out)" = 2 ]
	done
}

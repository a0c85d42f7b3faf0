# add --every and --cron, and what shows a recurring timer.
# shellcheck shell=bash disable=SC2154,SC2034

test_add_every_fires_again_and_again() {
	expect 0 durawheel add --topic t --id e --every 100ms --data hi
	prints e
	start
	await has_lines 5
	stop_owner
	grep -q '"id":"e","topic":"t","due":\([0-9]*\),.*"occurrence":\1,.*"data":"hi"' fired
	[ "$(sed 's/.*"occurrence":\([0-9]*\),.*/\1/' fired | sort -u | wc -l)" = \
		"$(wc -l <fired)" ]
	expect 0 durawheel cancel e
	expect 0 timeout 60 durawheel run --until-idle
	is_counted out 0
}

test_add_cron_shows_its_rule() {
	rule='cron 0 8 * * mon-fri; zone Europe/London; end 2099-01-01T00:00:00.000000Z'
	rule+='; jitter 30s; missed skip; missed-after 5m; missed-age 2h'
	rule+='; except 2098-12-25, 2098-12-28'
	expect 0 durawheel add --topic t --id c --cron '0 8 * * mon-fri' --zone Europe/London \
		--until 2099-01-01T00:00:00Z --except 2098-12-25,2098-12-28 --jitter 30s \
		--missed skip --missed-after 5m --missed-age 2h
	expect 0 durawheel show c
	grep -qF "$rule" out
	grep -q '^occurrence  *20[0-9-]*T0[78]:00:00.000000Z, in ' out
	expect 0 durawheel add --topic t --id once --in 1h
	expect 0 durawheel list --recurring
	is_counted out 2
	grep -qF "RULE" out
	grep -qF "$rule" out
	expect 0 durawheel list --recurring --json
	is_counted out 1
	grep -qF "\"rule\":\"$rule\",\"occurrence\":" out
	expect 0 durawheel list
	is_counted out 3
}

test_add_same_rule_keeps_its_occurrence() {
	expect 0 durawheel add --topic t --id e --every 24h
	expect 0 durawheel show --json e
	cp out before
	sleep 0.05
	expect 0 durawheel add --topic t --id e --every 24h
	expect 0 durawheel show --json e
	cmp out before
	expect 0 durawheel add --topic t --id e --every 24h --data new
	expect 0 durawheel show --json e
	! cmp -s out before
}

test_add_times_ends_the_rule() {
	expect 0 durawheel add --topic t --id e --every 20ms --times 3
	expect 0 timeout 60 durawheel run --until-idle
	is_counted out 3
	expect 3 durawheel show e
}

test_add_refuses_half_a_rule() {
	expect 2 durawheel add --topic t --in 1h --zone UTC
	says 'add: --in counts from now: --zone is for --at$'
	expect 2 durawheel add --topic t --in 1h --times 2
	says 'add: --times is for --every and --cron'
	expect 2 durawheel add --topic t --in 1h --every 1h
	says 'a rule has no --in and --at'
	expect 2 durawheel add --topic t --every 1h --cron '* * * * *'
	says 'exactly one of --cron and --every'
	expect 2 durawheel add --topic t --every 1h --missed never
	says 'once, skip or all'
	expect 2 durawheel add --topic t --cron '0 8 * *'
	says 'cron'
	expect 2 durawheel add --topic t --cron '0 8 * * *' --zone Europe/Londn
	says 'Europe/Londn'
	expect 2 durawheel add --topic t --every 1h --late-after 1h
	says 'a rule has no --late-after'
	expect 2 durawheel add --topic t --cron '0 0 30 2 *'
	says 'never comes: no month has such a day$'
	expect 2 durawheel add --topic t --every 1h --from 2020-01-01T00:00:00Z --times 2
	says 'add: it never comes: all of its --times have passed$'
	expect 2 durawheel add --topic t --cron '0 9 * * *' --from 2099-01-01T10:00:00Z \
		--until 2099-01-02T08:00:00Z
	says 'add: it never comes: --until "2099-01-02T08:00:00Z" is before its first occurrence$'
	expect 2 durawheel add --topic t --every 1h --from 2020-01-01T00:00:00Z --times 2 \
		--until 2099-01-01T00:00:00Z
	says 'add: it never comes: all of its --times have passed$'
	expect 2 durawheel add --topic t --cron @daily --until 1970-01-01T00:00:00Z
	says 'add: --until "1970-01-01T00:00:00Z" has passed: write a later time$'
	expect 2 durawheel add --topic t --every 1h --from 1970-01-01T00:00:00Z
	says 'add: --from "1970-01-01T00:00:00Z" is not after 1970: write a later time$'
	expect 2 durawheel add --topic t --every 0
	says 'add: --every is out of range: write 1ms to 3660d$'
}

test_exec_gets_the_occurrence() {
	expect 0 durawheel add --topic t --id e --every 20ms --times 1
	expect 0 timeout 60 durawheel run --until-idle \
		--exec 'env | grep "^DW_[OM]" | sort >>seen'
	grep -q '^DW_OCCURRENCE=[0-9]\{16\}$' seen
	grep -q '^DW_MISSED=0$' seen
	expect 0 durawheel add --topic t --id once --in 0
	expect 0 timeout 60 durawheel run --until-idle --exec 'env >once'
	grep -q '^DW_ATTEMPT=1$' once
	! grep -q '^DW_OCCURRENCE=\|^DW_MISSED=' once
}

test_list_and_import_keep_rules() {
	expect 0 durawheel add --topic t --id e --every 24h --data hi
	expect 0 durawheel add --topic t --id c --cron '0 8 * * mon-fri' --zone Europe/London
	expect 0 durawheel add --topic t --id once --at 2099-01-01T00:00:00Z
	expect 0 durawheel list --json
	cp out lines
	export DURAWHEEL_STORE=sqlite:other.db
	expect 0 durawheel import lines
	prints 'imported 3, refused 0'
	expect 0 durawheel list --json
	grep -o '"id".*"topic":"t"\|"rule":"[^"]*"\|"data".*' out >found
	grep -o '"id".*"topic":"t"\|"rule":"[^"]*"\|"data".*' lines >wanted
	cmp found wanted
	echo '{"id":"x","topic":"t","rule":"every 90s; jitter 5s"}' >lines
	expect 0 durawheel import lines
	expect 0 durawheel show x
	grep -q '^rule  *every 90s; jitter 5s$' out
	echo '{"topic":"t","rule":"every 90"}' >lines
	expect 1 durawheel import lines
	says '"rule": every "90" is not a duration'
	echo '{"topic":"t","rule":"every 90s","in":"1h"}' >lines
	expect 1 durawheel import lines
	says 'needs no "at" and no "in"'
}

test_help_of_run_names_what_a_rule_adds() {
	expect 0 durawheel help run
	grep -q 'occurrence' out
	grep -q 'missed' out
	grep -q 'DW_OCCURRENCE, DW_MISSED' out
}

# Two timers have a zone that the machine knew when they were added.
on_machine_without_zone() {
	mkdir zones
	cp /usr/share/zoneinfo/Europe/London zones/Lost
	cp /usr/share/zoneinfo/Europe/London zones/Kept
	export TZDIR=$PWD/zones
	expect 0 durawheel add --topic t --id a --cron '0 12 1 1 *' --zone Lost
	expect 0 durawheel add --topic t --id b --cron '0 12 2 1 *' --zone Lost --jitter 5s
	expect 0 durawheel add --topic t --id c --cron '0 12 3 1 *' --zone Kept
	expect 0 durawheel add --topic t --id d --every 1000d
	expect 0 durawheel add --topic t --id once --at 2099-01-01T00:00:00Z
	rm zones/Lost
}

test_check_names_zones_that_the_machine_does_not_know() {
	on_machine_without_zone
	expect 0 durawheel check
	grep -qx 'flaws            0' out
	grep -qx 'unknown zones    1' out
	grep -qx 'zone             Lost: 2 timers, first a' out
	says 'cannot start on this machine.* time zone: 2; .*package tzdata'
	expect 0 durawheel check --json
	grep -qF '"unknown_zone_timers":2,"unknown_zones":[{"zone":"Lost","timers":2,"id":"a"}]}' \
		out || fail "$(cat out)"
	cp zones/Kept zones/Lost
	expect 0 durawheel check
	grep -qx 'unknown zones    0' out
	[ ! -s err ]
}

test_list_marks_zones_that_the_machine_does_not_know() {
	on_machine_without_zone
	expect 0 durawheel list
	[ "$(grep -c '(this machine does not know the zone Lost)$' out)" = 2 ]
	says 'cannot start on this machine.* time zone: 2; .*package tzdata'
	expect 0 durawheel list --recurring
	grep -q 'zone Lost; jitter 5s  (this machine does not know the zone Lost)$' out
	grep -q 'zone Kept$' out
	expect 0 durawheel list --json
	[ "$(grep -c '"unknown_zone":"Lost","data"' out)" = 2 ]
	[ "$(grep -c unknown out)" = 2 ]
	cp out lines
	cp zones/Kept zones/Lost
	expect 0 durawheel import --store sqlite:copy.db lines
	prints 'imported 5, refused 0'
	expect 0 durawheel list --limit 1
	[ ! -s err ]
}

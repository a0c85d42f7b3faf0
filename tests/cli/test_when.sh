# when: the times of a rule.
# shellcheck shell=bash disable=SC2154,SC2034

test_when_tells_of_the_clock_that_goes_forward() {
	expect 0 durawheel when --cron '30 1 * * *' --zone Europe/London \
		--from 2027-03-27T00:00:00Z --count 3
	prints '2027-03-27T01:30:00Z  2027-03-27T01:30:00+00:00
2027-03-28T01:30:00Z  2027-03-28T02:30:00+01:00  the clock goes forward: 01:30 does not exist
2027-03-29T00:30:00Z  2027-03-29T01:30:00+01:00'
}

test_when_tells_of_a_time_that_exists_twice() {
	expect 0 durawheel when --json --cron '30 1 * * *' --zone Europe/London \
		--from 2027-10-31T00:00:00Z --count 2
	grep -qF '{"occurrence":1824942600000000,"local":"2027-10-31T01:30:00+01:00",' out
	grep -qF '+01:00","note":"comes twice: the first"}' out
	grep -qF ':1825032600000000,"local":"2027-11-01T01:30:00+00:00","note":""}' out
	expect 0 durawheel when --cron '30 * * * *' --zone Europe/London \
		--from 2027-10-31T01:00:00Z --count 1
	prints '2027-10-31T01:30:00Z  2027-10-31T01:30:00+00:00  comes twice: the second'
}

test_when_prints_the_next_five() {
	now=$(date +%s)
	expect 0 durawheel when --json --every 24h
	is_counted out 5
	first=$(sed -n '1s/.*"occurrence":\([0-9]*\)......,.*/\1/p' out)
	[ $((first - now)) -ge 86400 ] && [ $((first - now)) -le 86500 ]
	expect 0 durawheel when --every 1ms --from 2027-01-01T00:00:00Z --count 1000
	is_counted out 1000
	[ "$(sort -u out | wc -l)" = 1000 ]
	[ "$(sed -n 1000p out)" = '2027-01-01T00:00:00.999000Z  2027-01-01T00:00:00.999000+00:00' ]
}

test_when_leaves_out_what_is_excepted_and_ends() {
	expect 0 durawheel when --cron '0 9 * * *' --zone America/St_Johns --count 9 \
		--from 2026-12-24T00:00:00Z --until 2026-12-29T12:30:00Z \
		--except 2026-12-25,2026-12-28
	prints '2026-12-24T12:30:00Z  2026-12-24T09:00:00-03:30
2026-12-26T12:30:00Z  2026-12-26T09:00:00-03:30
2026-12-27T12:30:00Z  2026-12-27T09:00:00-03:30
2026-12-29T12:30:00Z  2026-12-29T09:00:00-03:30'
}

test_when_says_what_is_wrong() {
	expect 2 durawheel when
	says 'when: write an id, --cron or --every$'
	expect 2 durawheel when --cron @daily --every 1h
	says 'when: exactly one of --cron and --every is required'
	expect 2 durawheel when --cron '60 * * * *'
	says 'when: --cron: minute "60" is wrong: write 0 to 59'
	expect 2 durawheel when --cron @daily --zone ../../etc/passwd
	says 'when: --zone: "../../etc/passwd" is not a name'
	expect 2 durawheel when --every 1h --except 2026-12-25,
	says 'when: --except: "" is not a date'
	expect 2 durawheel when --every 1h --count 0
	says '--count "0": write a whole number'
	expect 2 durawheel when --cron @daily --count 18446744073709551616
	says '--count "18446744073709551616" is too large$'
	expect 2 durawheel when --every 1h --from 2027-01-01
	says '--from "2027-01-01" is not a time: it has no time of day'
	expect 2 durawheel when nothing --zone UTC
	says 'when: nothing has its own rule'
}

# when takes the options of add, and names them.
test_when_takes_the_options_of_add() {
	expect 0 durawheel when --every 1h --from 2027-01-01T00:00:00Z --times 2 --jitter 5m \
		--missed skip --missed-after 5m --missed-age 2h
	prints '2027-01-01T00:00:00Z  2027-01-01T00:00:00+00:00
2027-01-01T01:00:00Z  2027-01-01T01:00:00+00:00'
	expect 0 durawheel when --cron '* * * * *' --times 70 --count 1000
	is_counted out 70
	expect 2 durawheel when --every 1h --until 2020-01-01T00:00:00Z
	says 'when: --until "2020-01-01T00:00:00Z" has passed: write a later time'
	expect 2 durawheel add --topic t --cron @daily --until 2020-01-01T00:00:00Z
	says 'add: --until "2020-01-01T00:00:00Z" has passed'
	expect 2 durawheel when --every 1h --from 2027-01-02T00:00:00Z --until 2027-01-01T00:00:00Z
	says 'when: --until is before --from'
	expect 2 durawheel when --every 1h --jitter 31m
	says 'when: --jitter is out of range: write at most half of --every'
	expect 2 durawheel when --every 1us
	says 'when: --every is out of range'
	expect 2 durawheel add --topic t --every 1h --times 100001
	says 'add: --times is too large'
	expect 2 durawheel when --every 1h --missed-after 0
	says '^durawheel: --missed-after 0: write at least 1us$'
	expect 2 durawheel add --topic t --in 1h --missed-after 5m
	says 'missed-after is for --every and --cron'
	expect 2 durawheel when --every 1h --missed never
	says '--missed "never": write once, skip or all'
}

test_when_says_that_a_rule_never_comes() {
	expect 2 durawheel when --cron '0 9 * * *' --from 2099-01-01T10:00:00Z \
		--until 2099-01-02T08:00:00Z
	is_counted out 0
	says '^durawheel: when: it never comes: --until "2099-01-02T08:00:00Z" is before its first'
	expect 2 durawheel when --cron '0 9 * * *' --from 9999-12-31T10:00:00Z --json
	is_counted out 0
	says 'when: it never comes: --cron "0 9 \* \* \*" has no occurrence$'
	for command in when 'add --topic t'; do
		# shellcheck disable=SC2086
		expect 2 durawheel $command --every 1h --until 'in 5min'
		is_counted out 0
		says "${command%% *}: it never comes: --until \"in 5min\" is before its first occ"
	done
	expect 0 durawheel when --every 1h --from 2020-01-01T00:00:00Z --until 2020-01-01T01:00:00Z
	is_counted out 2
	is_counted err 0
}

test_when_needs_no_store() {
	expect 0 durawheel when --every 1h --store sqlite:absent/timers.db
	[ ! -e absent ]
}

test_when_of_a_stored_timer() {
	expect 0 durawheel add --topic t --id c --cron '30 1 * * *' --zone Europe/London \
		--from 2099-10-23T00:00:00Z
	expect 0 durawheel when c --count 3
	prints '2099-10-23T00:30:00Z  2099-10-23T01:30:00+01:00
2099-10-24T00:30:00Z  2099-10-24T01:30:00+01:00
2099-10-25T00:30:00Z  2099-10-25T01:30:00+01:00  comes twice: the first'
	expect 0 durawheel show c
	grep -q '^next  *2099-10-24T00:30:00.000000Z, in ' out
	expect 0 durawheel move c --at 2099-10-23T12:00:00Z
	expect 0 durawheel when c --count 2
	due='is due at 2099-10-23T12:00:00.000000Z'
	prints "2099-10-23T00:30:00Z  2099-10-23T01:30:00+01:00  $due
2099-10-24T00:30:00Z  2099-10-24T01:30:00+01:00"
	expect 0 durawheel when --json c --count 1
	grep -qF '{"occurrence":4096398600000000,"local":"2099-10-23T01:30:00+01:00",' out
	grep -qF "+01:00\",\"note\":\"$due\"}" out
}

# A period and a count began when the timer was put, and go on from there.
test_when_of_a_stored_timer_goes_on_where_it_is() {
	expect 0 durawheel add --topic t --id e --every 1s --times 1000
	expect 0 durawheel when e --count 2000
	is_counted out 1000
	cp out all
	start
	await [ -s fired ]
	stop_owner
	expect 0 durawheel when e --count 2000
	[ "$(wc -l <out)" -lt 1000 ]
	tail -n 1 all >last
	tail -n 1 out | cmp - last
	! grep -vqFf all out
}

test_when_of_a_timer_that_has_ended() {
	expect 0 durawheel add --topic t --id e --every 1ms --times 2
	expect 0 durawheel run --until-idle
	expect 3 durawheel when e
	says 'e: '
}

# The zone has other rules since, and no owner has moved the timer yet.
test_when_of_a_stored_timer_shows_what_is_pending() {
	mkdir zones
	cp /usr/share/zoneinfo/Europe/London zones/Zone
	export TZDIR=$PWD/zones
	expect 0 durawheel add --topic t --id c --cron '0 12 * * *' --zone Zone \
		--from 2099-01-01T00:00:00Z
	cp /usr/share/zoneinfo/America/New_York zones/Zone
	expect 0 durawheel when c --count 2
	prints '2099-01-01T12:00:00Z  2099-01-01T07:00:00-05:00  the rule no longer has it
2099-01-01T17:00:00Z  2099-01-01T12:00:00-05:00'
}

test_when_of_an_id_says_what_is_wrong() {
	expect 0 durawheel add --topic t --id once --in 1h
	expect 1 durawheel when once
	says 'once has no rule'
	expect 3 durawheel when absent
	expect 2 durawheel when once --cron @daily
	says 'once has its own rule'
	expect 2 durawheel when once other
}

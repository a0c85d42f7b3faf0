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
	says 'when: exactly one of --cron and --every is required'
	expect 2 durawheel when --cron @daily --every 1h
	expect 2 durawheel when --cron '60 * * * *'
	says 'when: cron: minute "60" is wrong: write 0 to 59'
	expect 2 durawheel when --cron @daily --zone ../../etc/passwd
	says 'when: zone: "../../etc/passwd" is not a name'
	expect 2 durawheel when --every 1h --except 2026-12-25,
	says 'when: except: "" is not a date'
	expect 2 durawheel when --every 1h --count 0
	says '--count "0": write a whole number'
	expect 2 durawheel when --every 1h --from 2027-01-01T00:00:00
	says '--from "2027-01-01T00:00:00" has no offset'
}

test_when_needs_no_store() {
	expect 0 durawheel when --every 1h --store sqlite:absent/timers.db
	[ ! -e absent ]
}

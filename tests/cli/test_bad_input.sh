# Bad input from outside: damaged files, and what else a shell can do wrong.
# shellcheck shell=bash disable=SC2154,SC2034

# damage TEXT: changes the stored byte behind this text in the file, as a failing disk would.
damage() {
	local at
	[ ! -s timers.db-wal ] || fail 'the log is not in the file yet'
	at=$(LC_ALL=C grep -abo -m 1 -e "$1" timers.db | head -n 1 | cut -d: -f1)
	printf '#' | dd of=timers.db bs=1 seek="$((at + ${#1}))" conv=notrunc status=none
}

test_a_damaged_timer_is_told_and_can_be_cancelled() {
	expect 0 durawheel add --topic t --id sound --at 2020-01-01T00:00:00Z
	expect 0 durawheel add --topic t --id it --at 2020-01-01T00:00:01Z --data 'damage me!'
	expect 0 durawheel add --topic t --id other --at 2020-01-01T00:00:02Z --data 'and me!'
	damage 'damage me'
	damage 'and me'
	expect 1 durawheel show it
	says '^durawheel: it is damaged and does not fire: cancel it or add it again'
	expect 0 timeout 20 durawheel run --until-idle
	[ "$(ids_of out)" = sound ]
	says '^durawheel: 2 damaged timers were not fired'
	expect 0 durawheel cancel it
	is_counted err 0
	expect 3 durawheel show it
	expect 3 durawheel cancel it
	expect 0 durawheel add --topic t --id other --at 2020-01-01T00:00:02Z
	expect 0 timeout 20 durawheel run --until-idle
	[ "$(ids_of out)" = other ]
	! grep -q damaged err || fail "$(cat err)"
	expect 0 durawheel list --json
	is_counted out 0
}

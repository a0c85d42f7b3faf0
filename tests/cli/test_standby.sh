# Who stands by, as stats and top tell it.
# shellcheck shell=bash disable=SC2154,SC2034

# names_standby PATTERN: so does stats.
names_standby() {
	[[ $(durawheel stats --json | sed 's/.*"standby":"\([^"]*\)".*/\1/') =~ ^($1)$ ]]
}

# is_told_of_standbys: one of two standbys is named while it lives, and none once it owns the store.
is_told_of_standbys() {
	local second
	start
	names_standby ''
	durawheel run --standby >>fired 2>standby.log &
	standby=$!
	await names_standby ".*, pid $standby, durawheel .*"
	durawheel stats >out
	grep -q "^standby .*, pid $standby, durawheel" out
	durawheel top --once >out
	grep -q "owner .*, pid $owner, .*; standby .*, pid $standby, durawheel" out
	durawheel run --standby >>fired 2>second.log &
	second=$!
	await grep -q 'standing by' second.log
	kill -KILL "$standby"
	wait "$standby" || true
	standby=$second
	await names_standby ".*, pid $second, durawheel .*"
	kill_owner
	await grep -q 'running, ' second.log
	await names_standby ''
	durawheel stats >out
	lacks standby out
	durawheel run --standby >>fired 2>third.log &
	owner=$!
	await names_standby ".*, pid $owner, durawheel .*"
	kill -TERM "$owner"
	ended 0
	await names_standby ''
	kill -TERM "$standby"
	wait "$standby"
	standby=
}

test_standby_is_named() {
	expect 0 durawheel add --topic t --id far --in 1h
	is_told_of_standbys
	[ ! -e timers.db-standby ]
}

test_standby_is_named_in_redis() {
	on_redis
	expect 0 durawheel add --topic t --id far --in 1h
	is_told_of_standbys
}

# A file that nobody may write, or of another program, is no reason to fail.
test_standby_works_without_its_file() {
	expect 0 durawheel add --topic t --id far --in 1h
	start
	mkdir timers.db-standby
	durawheel run --standby >>fired 2>standby.log &
	standby=$!
	await grep -q 'standing by' standby.log
	names_standby ''
	rmdir timers.db-standby
	await names_standby ".*, pid $standby, durawheel .*"
	head -c 9000 /dev/zero | tr '\0' x >timers.db-standby
	await names_standby ".*, pid $standby, durawheel .*"
	stop_owner
	await grep -q 'running, ' standby.log
	kill -TERM "$standby"
	wait "$standby"
	standby=
}

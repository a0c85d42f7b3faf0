# durawheel doctor: a healthy machine, and sick ones.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# finds CODE LEVEL ABOUT WORDS [CHANGE]: the finding is told, with what would change it, also as
# JSON; and nothing is changed.
finds() {
	local change=${5-}
	expect "$1" durawheel doctor
	grep -qE "^$2 +$3 +.*$4" out || fail "no '$2 $3 $4' in: $(cat out)"
	if [ -n "$change" ]; then
		grep -E -A 1 "^$2 +$3 +.*$4" out | grep -qE "^ +change: +.*$change" ||
			fail "no '$change' in: $(cat out)"
	fi
	expect "$1" durawheel doctor --json
	python3 -c 'import json, re, sys
report = json.load(open("out"))
assert report["healthy"] == (sys.argv[1] == "0"), report
assert any(one["level"] == sys.argv[2] and one["about"] == sys.argv[3] and
           re.search(sys.argv[4], one["found"]) and re.search(sys.argv[5], one.get("change", ""))
           for one in report["findings"]), report
assert report["sick"] == sum(one["level"] == "sick" for one in report["findings"]), report
assert all(one.get("change") for one in report["findings"] if one["level"] != "ok"), report' \
		"$1" "$2" "$3" "$4" "$change"
}

# is_healthy: nothing is sick. Whether the clock is synchronized, is the machine's.
is_healthy() {
	expect 0 durawheel doctor
	lacks '^sick ' out
	grep -v ' clock ' out | lacks '^advice ' /dev/stdin
	grep -qE '^healthy: ' out
	[ ! -s err ] || fail "$(cat err)"
}

test_doctor_finds_a_healthy_file_and_its_owner() {
	expect 0 durawheel add --topic mail --id a --in 1h
	expect 0 durawheel topic set mail --backoff 1m
	start --exec true
	is_healthy
	for about in clock limits zones disk owner topic damage; do
		grep -qE "^(ok|advice) +$about " out || fail "nothing of $about: $(cat out)"
	done
	expect 0 durawheel doctor --journal "$PWD/journal.db"
	[ "$(grep -c '^ok *disk' out)" = 4 ]
	[ ! -e journal.db ]
	stop_owner
	before=$(printf '%s\n' *)
	expect 0 durawheel doctor --journal "$PWD/journal.db"
	[ "$before" = "$(printf '%s\n' *)" ] || fail "it leaves a file: $(printf '%s ' *)"
}

test_doctor_finds_a_healthy_server() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	redis_start "$PWD" --appendonly yes --maxmemory 100mb
	export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
	expect 0 durawheel add --topic mail --id a --in 1h
	start --exec true
	is_healthy
	for about in server clock persist memory owner; do
		grep -qE "^ok +$about " out || fail "nothing of $about: $(cat out)"
	done
	lacks 'password|masterauth' out
	stop_owner
	redis_stop
	expect 6 durawheel doctor
	grep -qE '^sick +store +redis://.*: no connection' out
}

test_doctor_finds_a_sick_server() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	redis_start "$PWD" --maxmemory 100mb --tcp-keepalive 0 --client-query-buffer-limit 1mb
	export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
	expect 0 durawheel add --topic mail --id a --in 1h
	finds 1 sick persist 'keeps nothing on its disk' 'CONFIG SET appendonly yes'
	redis-cli -s socket config set maxmemory-policy allkeys-lru >reply
	finds 6 sick store 'maxmemory-policy is allkeys-lru' 'maxmemory-policy noeviction'
	redis-cli -s socket config set maxmemory-policy noeviction >reply
	finds 1 advice limits 'tcp-keepalive is 0' 'tcp-keepalive 300'
	finds 1 advice limits 'client-query-buffer-limit is 1048576' 'limit 2097152'
	redis-cli -s socket config set save '3600 1' appendonly no >reply
	finds 0 advice persist 'only saves snapshots \(3600 1\)' 'appendonly yes'
	redis-cli -s socket config set appendonly yes appendfsync no >reply
	finds 0 advice persist 'appendfsync is no' 'appendfsync everysec'
	finds 0 ok memory 'of 100 MiB are used'
	# A user without rights to see settings; they stay hidden, and nothing else is sick.
	redis-cli -s socket acl setuser app on '>secret' '~*' '&*' +@all -config >reply
	DURAWHEEL_STORE=redis://app:secret@127.0.0.1:$redis_port finds 0 advice rights \
		'does not show its settings.*NOPERM' '\+config'
	lacks secret out
	redis-cli -s socket replicaof 127.0.0.1 1 >reply
	finds 6 sick store 'is a replica' 'name the master'
	redis_stop
}

test_doctor_finds_a_clock_that_differs() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	local ahead=$build/tests/libclock_ahead.so
	if ldd "$build/durawheel" | grep -qE 'lib[at]san' || [ ! -e "$ahead" ]; then
		echo 'NOT TESTED: nothing can be preloaded'
		return
	fi
	export DW_CLOCK_AHEAD_S=3600
	LD_PRELOAD=$ahead redis_start "$PWD" --appendonly yes
	export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
	expect 0 durawheel add --topic mail --id a --in 1d
	finds 1 sick clock 'the clock of this machine is .* behind that of the server' timedatectl
	redis_stop
}

test_doctor_finds_a_disk_that_cannot_be_written() {
	expect 0 durawheel add --topic mail --id a --in 1h
	mkdir small
	if ! mount -t tmpfs -o size=1m none small 2>/dev/null; then
		echo 'NOT TESTED: no file system can be mounted'
		return
	fi
	(
		trap 'umount small' EXIT
		cp timers.db small/timers.db
		export DURAWHEEL_STORE=sqlite:$PWD/small/timers.db
		finds 1 sick disk 'the disk is full: 0 MiB' 'free space'
		mount -o remount,ro small
		expect 6 durawheel doctor
		grep -qE '^sick +disk +.*/small: the file system is read-only' out ||
			fail "$(cat out)"
	)
}

test_doctor_finds_damage() {
	expect 0 durawheel add --topic t --in 1h --id broken --data 'the data that is flipped'
	LC_ALL=C sed -i 's/the data that is flipped/the data that is FLIPPED/' timers.db
	finds 1 sick damage 'first of broken: .*checksum' 'durawheel check'
}

test_doctor_finds_an_unknown_zone() {
	mkdir zones
	cp /usr/share/zoneinfo/UTC zones/Mine
	TZDIR=$PWD/zones expect 0 durawheel add --topic t --id a --cron '0 8 * * *' --zone Mine
	finds 1 sick zones 'does not know the zone Mine of a' tzdata
	mkdir none
	TZDIR=$PWD/none finds 1 advice zones 'no time zone data' tzdata
}

test_doctor_finds_topics_that_wait() {
	expect 0 durawheel topic set mail --backoff 1m
	finds 0 advice topic 'no owner acts on the settings of topics: 1' 'topic drop'
	expect 0 durawheel add --topic mail --id a --in 0s
	finds 1 sick owner 'nobody owns the store; .* some are due' 'durawheel run'
	expect 0 durawheel topic pause mail
	start --topic mail --exec true
	await has_advice
	finds 0 advice topic 'mail: due timers that wait: 1: the topic or its owner is paused' \
		'durawheel topic resume mail'
	expect 0 durawheel add --topic other --id b --in 0s
	await is_sick
	finds 1 sick topic 'other: due timers that wait: 1: the owner has no handler' \
		'durawheel topic show other'
	stop_owner
}

has_advice() {
	durawheel doctor | grep -q '^advice *topic'
}

is_sick() {
	! durawheel doctor >out
}

test_doctor_finds_limits() {
	expect 0 durawheel add --topic mail --id a --in 1h
	(ulimit -n 100 && finds 0 advice limits 'only 100 files' LimitNOFILE)
	(ulimit -f 10240 && finds 1 sick limits 'only 10 MiB' LimitFSIZE)
	expect 2 durawheel doctor --store nonsense
	expect 2 durawheel doctor word
	expect 6 durawheel doctor --store sqlite:none/timers.db
	grep -qE '^sick +disk +none: No such file' out
	[ ! -e none ]
}

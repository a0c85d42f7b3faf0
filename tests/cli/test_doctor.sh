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

# is_healthy: nothing is sick. Whether the clock is synchronized, is the machine's, and how soon a
# server answers.
is_healthy() {
	expect 0 durawheel doctor
	lacks '^sick ' out
	grep -vE ' clock | answers in ' out | lacks '^advice ' /dev/stdin
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
	finds 1 sick persist 'keeps nothing on its disk' \
		"redis-cli -p $redis_port CONFIG SET appendonly yes"
	DURAWHEEL_STORE=unix://$PWD/socket finds 1 sick persist 'keeps nothing on its disk' \
		"redis-cli -s $PWD/socket CONFIG SET appendonly yes"
	redis-cli -s socket config set maxmemory-policy allkeys-lru >reply
	finds 6 sick store 'maxmemory-policy is allkeys-lru' \
		"redis-cli -p $redis_port CONFIG SET maxmemory-policy noeviction"
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

# finds_in_time ARGUMENT...: as finds, of what the servers themselves must notice first.
finds_in_time() {
	await eval "durawheel doctor | grep -qE '^$2 +$3 +.*$4'"
	finds "$@"
}

# evals SOCKET: how many scripts the server has run.
evals() {
	redis-cli -s "$1" info commandstats | tr -d '\r' |
		awk -F '[=,]' '/^cmdstat_eval(sha)?:/ { sum += $2 } END { print sum + 0 }'
}

test_doctor_finds_sick_nodes_of_a_cluster() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	# shellcheck source=tests/support/redis_cluster.sh
	. "$here/../support/redis_cluster.sh"
	local ports number node word asked
	trap 'cluster_kill; tidy' EXIT
	mkdir cluster
	cluster_options=(--appendonly yes)
	cluster_start "$PWD/cluster" || fail "the cluster does not start"
	cluster_options=()
	ports=("${cluster_ports[@]}")
	DURAWHEEL_STORE=redis+cluster://127.0.0.1:${ports[0]},127.0.0.1:${ports[2]}
	start
	expect 0 durawheel add --topic t --in 1h --id later
	await eval "! durawheel doctor | grep -vE ' clock | answers in ' | grep -q '^advice '"
	is_healthy
	for number in 0 1 2; do
		node="redis://127.0.0.1:${ports[number]}/0 \\(cluster\\)"
		grep -qE "^[a-z]+ +server +$node: .* answers in " out || fail "$(cat out)"
		for word in persist replica cluster; do
			grep -qE "^ok +$word +$node: " out || fail "no $word of $node: $(cat out)"
		done
	done
	grep -q ': all slots have a master; masters: 3, nodes: 6$' out

	node=":${ports[1]}/0 \\(cluster\\)"
	redis-cli -s cluster/1/socket config set cluster-require-full-coverage yes >reply
	redis-cli -s cluster/1/socket config set appendfsync no >reply
	finds 0 advice cluster "$node: cluster-require-full-coverage is yes" \
		"redis-cli -p ${ports[1]} CONFIG SET cluster-require-full-coverage no"
	finds 0 advice persist "$node: appendfsync is no" \
		"redis-cli -p ${ports[1]} CONFIG SET appendfsync everysec"
	kill -STOP "${cluster_pids[4]}"
	finds_in_time 0 advice replica "its replica 127.0.0.1:[0-9]+ has told nothing for" INFO
	kill -CONT "${cluster_pids[4]}"
	redis-cli -s cluster/1/socket config set cluster-require-full-coverage no >reply

	# No shard has this slot.
	redis-cli -s cluster/0/socket cluster delslots 100 >reply
	finds_in_time 1 sick slots 'slots without a master: 1$' 'redis-cli .*--cluster fix'
	redis-cli -s cluster/0/socket cluster addslots 100 >reply
	finds_in_time 0 ok cluster "${ports[0]}/0 .*: all slots have a master"

	# A master that no replica can replace.
	for number in 3 4 5; do
		cluster_end $number
	done
	finds_in_time 0 advice node ':[0-9]+/0 \(cluster\): no connection' 'CLUSTER FORGET'
	finds_in_time 0 advice replica "$node: it has no replica" 'add a replica'
	cluster_end 1
	# A check is refused, and does not ask the others again and again meanwhile.
	asked=$(evals cluster/0/socket)
	expect 6 durawheel check
	[ $(($(evals cluster/0/socket) - asked)) -lt 2000 ] || fail 'it asks without end'
	# Whether the store can be opened without this master depends on who asks whom first.
	await eval "durawheel doctor | grep -qE 'slots whose master is away: 546|is cut off: '"
	durawheel doctor >out || true
	grep -q '^ *change: .*FAILOVER TAKEOVER.*; if both are gone for good, redis-cli --cl' out
	stop_owner
}

# sentinels_start PORT: three of them watch the master there. sentinels has their pids, and its.
sentinels_start() {
	local number
	for number in 0 1 2; do
		mkdir "sentinel$number"
		some_port >"sentinel$number/port"
		printf '%s\n' "sentinel monitor orders 127.0.0.1 $1 2" \
			'sentinel down-after-milliseconds orders 1000' >"sentinel$number/conf"
		(redis_exec "$PWD/sentinel$number/conf" --sentinel --bind 127.0.0.1 \
			--dir "$PWD/sentinel$number" --port "$(<"sentinel$number/port")") \
			>"sentinel$number/log" 2>&1 </dev/null &
		sentinels+=($!)
	done
}

sentinels_end() {
	kill -KILL "${sentinels[@]}" 2>/dev/null || true
}

sentinel() {
	redis-cli -p "$(<"sentinel$1/port")" sentinel "${@:2}"
}

test_doctor_finds_sick_sentinels() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	local node
	mkdir replica
	redis_start "$PWD" --appendonly yes
	sentinels=("$redis_pid")
	trap 'sentinels_end; tidy' EXIT
	sentinels_start "$redis_port"
	redis_start "$PWD/replica" --appendonly yes --replicaof 127.0.0.1 "$redis_port"
	DURAWHEEL_STORE=redis+sentinel://127.0.0.1:$(<sentinel0/port)/orders
	await eval "durawheel doctor | grep -c '^ok *sentinel .*; quorum 2 of 3' | grep -qx 3"
	expect 0 durawheel add --topic t --in 1h --id later
	start
	await eval '! durawheel doctor | grep "has no replica"' # a Sentinel looks each 10 s
	is_healthy
	grep -qE '^ok +replica +redis://127.0.0.1:[0-9]+/0 \(orders\): its replica .* follows' out
	redis-cli -s socket config set appendfsync no >reply
	finds 0 advice persist '' "redis-cli -p $(<port) CONFIG SET"

	node="Sentinel 127.0.0.1:$(<sentinel1/port)"
	sentinel 1 set orders quorum 4 >reply
	sentinel 1 set orders down-after-milliseconds 60000 >reply
	finds_in_time 1 sick sentinel "$node: its quorum is 4 of 3" \
		"redis-cli -p $(<sentinel1/port) SENTINEL SET orders quorum 2"
	finds 1 advice sentinel "$node: down-after-milliseconds is 60000" 'milliseconds 5000'
	sentinel 1 set orders quorum 3 >reply
	finds_in_time 0 advice sentinel "$node: its quorum is 3 of 3" 'quorum 2'
	kill "${sentinels[3]}"
	finds_in_time 0 advice sentinel "Sentinel 127.0.0.1:$(<sentinel2/port): no connection" \
		'SENTINEL RESET'
	stop_owner
	kill "${sentinels[2]}"
	await eval '! durawheel list'
	finds 6 sick store 'no majority of the Sentinels names the server orders' \
		'start the Sentinels that do not answer'
}

test_doctor_finds_a_clock_that_differs() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	local ahead=$build/tests/libclock_ahead.so
	if ldd "$build/durawheel" | grep -qE 'lib[at]san' || [ ! -e "$ahead" ]; then
		not_tested 'nothing can be preloaded'
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
		not_tested 'no file system can be mounted'
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

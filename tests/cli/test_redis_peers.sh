# Several processes share a namespace: run --peer, members, stats.
# shellcheck shell=bash disable=SC2154,SC2034

# peer NAME [OPTION...]: in the background; its lines go to NAME.fired, its messages to NAME.log.
peer() {
	local name=$1
	shift
	durawheel run --peer "$@" >>"$name.fired" 2>>"$name.log" &
	peers["$name"]=$!
}

# stop_peer NAME: it ends with exit code 0.
stop_peer() {
	owner=${peers[$1]}
	unset "peers[$1]"
	stop_owner
}

# has_shards COUNT...: the peers have so many shards, in the order in which they joined.
has_shards() {
	durawheel members --json >list.json 2>/dev/null || true # 1: a shard moves
	[ "$(grep -o '"shards":\[[0-9,]*\]' list.json |
		awk -F '[][]' '{ printf "%d ", split($2, numbers, ",") }')" = "$* " ]
}

# all_fired COUNT: the peers have fired so many timers together.
all_fired() {
	[ "$(cat ./*.fired | wc -l)" = "$1" ]
}

# add_many COUNT: timers that are due within a second, "N-COUNT".
add_many() {
	local i
	for ((i = 0; i < $1; i++)); do
		echo "{\"id\":\"$i-$1\",\"topic\":\"t\",\"in\":\"$((i * 1000 / $1))ms\"}"
	done | expect 0 durawheel import
}

# shows_peers COUNT: so many peers have shards, and the owner is named so.
shows_peers() {
	durawheel stats --json >out 2>err || true
	grep -qE "\"owners\":$1,\"shards\":16,\"shards_owned\":16,.*\"shards_free\":0," out
}

# counts_fired COUNT: the report of all peers and the list of topics have so many starts.
counts_fired() {
	durawheel stats --json >out 2>err || true
	grep -q "\"fired\":$1," out &&
		durawheel topic list --json >topics.out 2>err && grep -q "\"done\":$1," topics.out
}

test_redis_peers_share_a_namespace() {
	on_redis
	peer one
	await has_shards 16
	peer two
	await has_shards 8 8
	expect 0 durawheel members
	grep -q "^WHO  *VERSION  *SINCE  *CLOCK  *SHARDS$" out
	grep -q ", pid ${peers[one]}  *$(durawheel --version | cut -d ' ' -f 2) " out
	grep -qE ", pid ${peers[two]} .* [-+][0-9]+[a-z]+ +8: [0-9]" out
	[ "$(tail -n 1 out)" = '16 shards, 0 without an owner' ]
	expect 0 durawheel stats
	[ "$(grep -cE '^member .*, pid [0-9]+, shards [0-9]' out)" = 2 ]
	lacks 'without an owner' out
	await shows_peers 2
	grep -qE '"owner_report":.*"members":\[\{"who":.*\],"shard_count":16,"unowned":\[\]\}$' out
	add_many 300
	await all_fired 300
	await counts_fired 300
	[ -s one.fired ] && [ -s two.fired ]
	[ "$(sed 's/,.*//' ./*.fired | sort -u | wc -l)" = 300 ]
	for name in one two; do
		grep -q 'joining the processes that share the namespace' $name.log
		grep -q 'info durawheel: this process shares the store with its peers' $name.log
		grep -q 'info durawheel: this process has 8 of 16 shards now: gained [0-9]*, lost' \
			$name.log
		lacks ' \(warn\|error\) ' $name.log
	done
	stop_peer one
	await has_shards 16
	await shows_peers 1
	await counts_fired 300 # also those of the one that has left
	add_many 200
	await all_fired 500
	await counts_fired 500
	[ "$(redis HGET '{durawheel:00}:m' format)" = 2p ]
	stop_peer two
	[ "$(redis HGET '{durawheel:00}:m' format)" = 2 ]
	expect 1 durawheel members
	prints 'no peers share this namespace, and no process owns it'
	expect 0 durawheel stats
	grep -q '^owner  *none' out
}

# Its timers start again at the other peer, which notices that a process of its machine is dead.
test_redis_peer_that_is_killed() {
	on_redis
	peer one
	peer two
	await has_shards 8 8
	add_many 400
	kill -KILL "${peers[one]}"
	wait "${peers[one]}" || true
	unset 'peers[one]'
	await has_shards 16
	await has_count pending 0
	await has_count claimed 0
	[ "$(sed 's/,.*//' ./*.fired | sort -u | wc -l)" = 400 ]
	stop_peer two
}

# A peer waits for an owner to end, and is ready. An owner is refused while peers live.
test_redis_peer_beside_an_owner() {
	on_redis
	start
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	peer one
	hears '^READY=1 STATUS=0 timers; 0 fired'
	unset NOTIFY_SOCKET
	await has_shards 0
	add_many 20
	await is_counted fired 20
	expect 0 durawheel members
	grep -q '^16 shards, 0 without an owner$' out
	expect 0 durawheel stats
	grep -qE "^owner +.*, pid $owner, durawheel" out
	grep -q '^member .*, shards none$' out
	stop_owner
	await has_shards 16
	expect 6 durawheel run
	says "namespace durawheel is owned by .*, pid ${peers[one]}, .*run --standby"
	add_many 30
	await is_counted one.fired 30
	expect 6 durawheel purge --yes
	stop_peer one
	kill "$manager"
	[ "$(grep -c READY heard)" = 1 ]
}

# list_peer SHARDS: enters a peer of another machine into the list, with these shards, a hexadecimal
# number. It stays there for 5 s.
list_peer() {
	local now
	now=$(redis TIME | tr '\n' ' ' | awk '{ printf "%s%06d", $1, $2 }')
	redis ZADD '{durawheel:00}:o' $((now + 4000000)) far >/dev/null
	redis HSET '{durawheel:00}:O' far \
		"$now $1 9 -2500000 9.1.2 - - elsewhere, pid 7, durawheel 9.1.2|x" >/dev/null
}

# misses_shards COMMAND...: it exits with 1.
misses_shards() {
	local code=0
	durawheel "$@" >out 2>err || code=$?
	[ $code = 1 ]
}

# shows_unowned: the list of members says which shards nobody has.
shows_unowned() {
	list_peer 1ff
	misses_shards members &&
		grep -qE '^elsewhere, pid 7 9\.1\.2 .* -2s +9: 0-8; Redis refuses it others$' out &&
		[ "$(tail -n 1 out)" = '16 shards, 7 without an owner: 9-15' ]
}

shows_unowned_as_json() {
	list_peer 8001
	misses_shards members --json &&
		grep -q '"clock_us":-2500000,"shards":\[0,15\],"room":9,"dead":false,' out &&
		grep -q '"unowned":\[1,2,3,4,5,6,7,8,9,10,11,12,13,14\]}$' out
}

stats_shows_unowned() {
	list_peer fffe
	misses_shards stats &&
		grep -q '^member  *elsewhere, pid 7, shards 1-15; Redis refuses it others$' out &&
		grep -q '^without an owner shards 0: their timers wait$' out
}

# shows_busy: the list of members says what keeps the first peer from giving shards away.
shows_busy() {
	durawheel members >out 2>err || true
	grep -qE '; holds [0-9]+, should hold 8: in [0-9]+ of them deliveries run: slow \(' out ||
		return
	durawheel members --json >out 2>err || true
	grep -qE '"share":8,"busy_shards":[0-9]+,"busy_topics":"slow \([0-9]+ s\)",' out
}

# Deliveries run in most shards of the first peer while the second one joins.
test_redis_members_shows_what_is_in_the_way() {
	local i
	on_redis
	peer one --jobs 40 --exec 'until [ -e end ]; do sleep 1; done'
	await has_shards 16
	for ((i = 0; i < 40; i++)); do
		echo "{\"id\":\"$i\",\"topic\":\"slow\",\"in\":\"0s\"}"
	done | expect 0 durawheel import
	await has_count held 40
	peer two
	await shows_busy
	: >end
	await has_shards 8 8
	stop_peer one
	stop_peer two
}

# is_stopping: the first peer has the one shard in which a delivery runs, and the list says so.
is_stopping() {
	has_shards 1 15 || return
	durawheel members >out 2>err || true
	grep -qE ' 1: [0-9]+; is stopping: in 1 of them deliveries run: slow \([0-9]+ s\)$' out
}

# quiet_ones_fired: of 32 ids, those that are not in the shard of the delivery.
quiet_ones_fired() {
	[ "$(grep -c '^{"id":"quiet' two.fired)" -ge 24 ]
}

# A peer that is stopped while a delivery of a minute runs keeps only the shard of that one.
test_redis_peer_that_stops_gives_quiet_shards_at_once() {
	local i
	on_redis
	peer one --stop-patience 10m --exec 'until [ -e end ]; do sleep 0.1; done'
	await has_shards 16
	expect 0 durawheel add --topic slow --id slow --in 0s
	await has_count held 1
	peer two
	await has_shards 8 8
	kill -TERM "${peers[one]}"
	await is_stopping
	for ((i = 0; i < 32; i++)); do
		echo "{\"id\":\"quiet$i\",\"topic\":\"t\",\"in\":\"0s\"}"
	done | expect 0 durawheel import
	await quiet_ones_fired
	: >end
	owner=${peers[one]}
	unset "peers[one]"
	ended 0
	await has_shards 16
	await all_fired 33
	stop_peer two
}

# shows_no_handler: the list says which topic has no handler at the peer that has its timers.
shows_no_handler() {
	durawheel members >out 2>err || true
	grep "^$(hostname), pid ${peers[two]} " out >row &&
		grep -qE '; [0-9]+ due without a handler there: only_one \([0-9]+\)$' row
}

test_redis_members_shows_which_handler_is_missing() {
	local i
	on_redis
	peer one --topic only_one
	await has_shards 16
	peer two --topic other
	await has_shards 8 8
	for ((i = 0; i < 32; i++)); do
		echo "{\"id\":\"$i\",\"topic\":\"only_one\",\"in\":\"0s\"}"
	done | expect 0 durawheel import
	await shows_no_handler
	stop_peer two
	await all_fired 32
	stop_peer one
}

# A peer has begun one command, and more wait for it. A second peer comes to help.
test_redis_what_waits_for_a_job_goes_to_another_peer() {
	local i
	on_redis
	printf '#!/bin/sh\nuntil [ -e end ]; do sleep 0.1; done\n' >job
	chmod +x job
	printf '[run]\npeer = yes\n[topic t]\nexec = %s/job\njobs = 1\n' "$PWD" >run.conf
	peer one --config run.conf
	await has_shards 16
	for ((i = 0; i < 64; i++)); do
		echo "{\"id\":\"$i\",\"topic\":\"t\",\"in\":\"0s\"}"
	done | expect 0 durawheel import
	await has_count held 64
	peer two --config run.conf
	await has_shards 8 8
	: >end
	await all_fired 64
	stop_peer one
	stop_peer two
	[ "$(cat ./*.fired | sed 's/^{"id":"\([0-9]*\)".*/\1/' | sort -u | wc -l)" = 64 ]
}

# A client beside peers has a journal. While Redis is away, it keeps what is asked, and replays it.
test_redis_journal_of_a_client_beside_peers() {
	lasting_redis
	peer one
	await has_shards 16
	peer two
	await has_shards 8 8
	expect 0 durawheel add --topic t --id gone --in 1h
	redis_kill
	expect 0 durawheel add --topic t --id kept --in 1s --journal j
	says 'kept: Redis is away: kept in the journal until it is back'
	expect 6 durawheel cancel gone --journal j
	lasting_redis
	await has_shards 8 8
	expect 0 durawheel journal replay j
	prints 'replayed 2 timers'
	await all_fired 1
	await has_count pending 0
	stop_peer one
	stop_peer two
	[ "$(cat ./*.fired | ids_of /dev/stdin)" = kept ]
}

# fill_list: 50 other peers are in the list for some seconds.
fill_list() {
	# shellcheck disable=SC2016 # Lua
	redis EVAL 'local time = redis.call("TIME")
		local now = time[1] * 1000000 + time[2]
		local over = string.format("%.0f", now + 4900000)
		for k = 1, 50 do
			local record = "5 0 16 0 0.1.0 - - other, pid " .. k
			redis.call("ZADD", KEYS[1], over, "other" .. k)
			redis.call("HSET", KEYS[2], "other" .. k, record)
		end' 2 '{durawheel:00}:o' '{durawheel:00}:O' >reply
}

test_redis_peer_of_a_full_list_stands_by() {
	on_redis
	expect 0 durawheel add --topic t --id t --in 0s # the namespace is made
	fill_list
	while [ ! -e end ]; do
		fill_list
		sleep 0.5
	done &
	peer one
	await grep -q '50 processes share the store already, and more cannot' one.log
	: >end
	await has_shards 16
	await all_fired 1
	stop_peer one
}

# A shard that no process can take is told when a move would be over.
test_redis_peers_without_a_shard_are_not_ready() {
	if ! durawheel serve --help | grep -q -- --http; then
		return # built without
	fi
	on_redis
	expect 0 durawheel add --topic t --in 1h
	redis HSET '{durawheel:05}:m' format 3p fence 5 >/dev/null
	peer one --http "unix:$PWD/http"
	await has_shards 15
	await answers /readyz 200 ready
	await answers /metrics 200 'durawheel_shards{state="free"} 1'
	answers /metrics 200 'durawheel_owners 1'
	await answers /readyz 503 \
		'no process takes a shard: its timers wait, all others fire (shard 5)'
	durawheel serve --http "unix:$PWD/beside" 2>beside.log &
	owner=$!
	await grep -q 'serving unix:' beside.log
	mv http one.http && mv beside http
	await answers /readyz 503 'no process takes some shards: their timers wait'
	stop_owner
	stop_peer one
}

# A library that cannot own shards beside these peers says so.
test_redis_owner_beside_peers_of_a_newer_library() {
	on_redis
	expect 0 durawheel add --topic t --in 1h
	redis HSET '{durawheel:00}:m' format 3p fence 5 >/dev/null
	expect 6 durawheel run
	says 'the namespace durawheel is shared by processes of a newer durawheel, beside which'
}

test_redis_shard_without_an_owner_is_told() {
	on_redis
	expect 0 durawheel add --topic t --in 1h
	expect 1 durawheel members
	await shows_unowned
	await shows_unowned_as_json
	await stats_shows_unowned
	redis ZADD '{durawheel:00}:o' 1 far >/dev/null # it has told nothing for long
	expect 1 durawheel stats
	expect 1 durawheel members
	grep -q '; dead: it has ended, or tells nothing any more$' out
	redis_kill
	expect 6 durawheel members
}

test_redis_peer_refuses_what_it_does_not_have() {
	on_redis
	expect 2 durawheel run --peer --standby
	says '--peer and --standby exclude each other: '
	expect 2 durawheel run --peer --journal "$PWD/j"
	says '--peer and --journal exclude each other: '
	expect 2 durawheel run --peer --until-idle
	says '--peer and --until-idle exclude each other: '
	printf '%s\n' '[run]' 'peer = yes' "journal = $PWD/j" '[topic t]' 'exec = true' >run.conf
	expect 2 durawheel run --config run.conf --check
	says 'run.conf:3: peer and journal exclude each other: '
	printf '%s\n' '[run]' 'peer = yes' '[topic t]' 'exec = true' >run.conf
	expect 2 durawheel run --standby --config run.conf --check
	says 'run.conf:2: peer and standby exclude each other: '
	expect 0 durawheel run --config run.conf --check
	expect 2 durawheel run --peer --store "sqlite:$PWD/x.db"
	says '--peer is for a store in Redis, and this one is not'
	expect 0 durawheel add --topic t --in 1h --store "sqlite:$PWD/x.db"
	expect 2 durawheel members --store "sqlite:$PWD/x.db"
	says 'only a store in Redis is shared by several processes$'
}

# are_stored COUNT: so many timers are.
are_stored() {
	[ "$(durawheel list --json 2>/dev/null | wc -l)" = "$1" ]
}

# three_have_shards: whoever has joined first after the loss.
three_have_shards() {
	durawheel members --json >list.json 2>/dev/null || true
	[ "$(grep -o '"shards":\[[0-9,]*\]' list.json |
		awk -F '[][]' '{ print split($2, numbers, ",") }' | sort |
		paste -sd ' ')" = '5 5 6' ]
}

# A peer that joins when the server has just been emptied leaves the shards to those that know them.
test_redis_peers_joiner_takes_no_emptied_shard() {
	local i
	on_redis
	peer one
	peer two
	await has_shards 8 8
	for i in {1..200}; do
		echo "{\"id\":\"$i\",\"topic\":\"t\",\"in\":\"1h\"}"
	done | expect 0 durawheel import
	await has_count inbox 0 # the owners know all
	redis flushall >reply
	peer three
	await three_have_shards
	await are_stored 200
	for i in one two three; do
		lacks 'lost ownership' $i.log
		stop_peer $i
	done
}

# The command on a Redis Cluster: which master has which shards, and what is told of one that is
# away or has a slot that moves. And the user of Sentinels.
# shellcheck shell=bash disable=SC2154,SC2034

# at NUMBER COMMAND...: asks one of the servers.
at() {
	redis-cli -p "${cluster_ports[$1]}" "${@:2}"
}

# shards_shown: the shards of all nodes in the file out, which is --json.
shards_shown() {
	grep -o '"node":"[^"]*","shards":\[[0-9,]*\]' out | grep -o '\[.*\]' | tr -d '[]' |
		tr ',' '\n' | sort -n | paste -sd ' '
}

# names_no_other OUT: the killed master has no shard any more.
names_no_other() {
	expect 0 durawheel members
	! grep -q "^node .*:${cluster_ports[1]}/0" out
}

# home_of KEY: which of the first three servers has the key.
home_of() {
	local number
	for number in 0 1 2; do
		at $number get "$1" 2>&1 | grep -q MOVED || echo $number
	done
}

# web_get PATH: the answer of the web server at the socket web.
web_get() {
	python3 - "$1" <<-END
		import socket, sys
		web = socket.socket(socket.AF_UNIX)
		web.connect("web")
		web.sendall(b"GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" % sys.argv[1].encode())
		while part := web.recv(65536):
		    print(part.decode(), end="")
	END
}

# shows_its_nodes COUNT: the page has a row for each server.
shows_its_nodes() {
	local server
	durawheel serve --http "unix:$PWD/web" 2>log.serve &
	server=$!
	await test -S web
	web_get / >page.html
	kill $server
	wait $server || true
	grep -o '(cluster)</th><td>[0-9, -]*</td><td>in use</td>' page.html >nodes || true
	is_counted nodes "$1" || fail "the page shows $(cat nodes): $(tail -c 2000 page.html)"
}

test_redis_cluster_tells_of_its_nodes() {
	local number all='0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15' slot from to
	# shellcheck source=tests/support/redis_cluster.sh
	. "$here/../support/redis_cluster.sh"
	trap 'cluster_kill; tidy' EXIT
	mkdir cluster
	cluster_start "$PWD/cluster" || fail "the cluster does not start"
	DURAWHEEL_STORE=redis+cluster://127.0.0.1:${cluster_ports[0]}
	DURAWHEEL_STORE+=,127.0.0.1:${cluster_ports[2]}
	start
	expect 0 durawheel add --topic t --in 1h --id later
	for number in stats members check; do
		expect 0 durawheel $number --json
		[ "$(shards_shown)" = "$all" ] || fail "$number shows the shards $(shards_shown)"
		lacks '"connected":false' out
		expect 0 durawheel $number
		grep '^node  *redis://127.0.0.1:[0-9]*/0 (cluster), shards [0-9, -]*$' out >nodes
		is_counted nodes 3 || fail "$number shows no three nodes: $(cat out)"
	done

	shows_its_nodes 3

	slot=$(at 0 cluster keyslot '{durawheel:05}')
	from=$(home_of '{durawheel:05}')
	to=$(((from + 1) % 3))
	at $to cluster setslot "$slot" importing "$(at "$from" cluster myid)" >log.setslot
	at "$from" cluster setslot "$slot" migrating "$(at $to cluster myid)" >log.setslot
	await grep -q 'shard 5 cannot be used' log
	grep -q "${cluster_ports[from]}/0 (cluster) refuses {durawheel:05}: .*; its slot is " log
	expect 6 durawheel check
	says "^durawheel: redis://127.0.0.1:${cluster_ports[from]}/0 (cluster): the server ref"
	at $to cluster setslot "$slot" stable >log.setslot
	at "$from" cluster setslot "$slot" stable >log.setslot
	await grep -q 'shard 5 is in use again' log

	cluster_end 1
	await names_no_other
	expect 0 durawheel stats --json
	[ "$(shards_shown)" = "$all" ] || fail "the shards are $(shards_shown)"
	await has_count moved_shards '[1-9]'
	expect 0 durawheel list
	grep -q ' later ' out
	stop_owner
}

# on_cluster starts a cluster, whose masters the store names. Processes in peer and joiner end with
# it.
on_cluster() {
	peer='' joiner=''
	# shellcheck source=tests/support/redis_cluster.sh
	. "$here/../support/redis_cluster.sh"
	trap 'cluster_kill; [ -z "$peer$joiner" ] || kill -KILL $peer $joiner; tidy' EXIT
	mkdir cluster
	cluster_start "$PWD/cluster" || fail "the cluster does not start"
	DURAWHEEL_STORE=redis+cluster://127.0.0.1:${cluster_ports[0]}
	DURAWHEEL_STORE+=,127.0.0.1:${cluster_ports[1]},127.0.0.1:${cluster_ports[2]}
}

# write_timers COUNT TIME: lines for import, in the file timers.
write_timers() {
	local number
	for ((number = 1; number <= $1; number++)); do
		echo "{\"topic\":\"t\",\"id\":\"$number\",\"in\":\"$2\"}"
	done >timers
}

# is_divided: two peers have shards, and no shard is free.
is_divided() {
	durawheel members >out || return 1
	[ "$(grep -c '^.*, pid .* 8: ' out)" = 2 ]
}

# end_first: the master of the first shard and its replica end; sets first to its number.
end_first() {
	local id number
	first=$(home_of '{durawheel:00}')
	id=$(at "$first" cluster myid)
	for number in 3 4 5; do
		at $number cluster nodes | grep "myself.* $id " >/dev/null || continue
		cluster_end $number
	done
	cluster_end "$first"
}

# is_noted NUMBER...: a note says that each of these masters is used. So the next handle does not
# wait.
is_noted() {
	local number key notes
	for number in "$@"; do
		notes=
		for key in $(at "$number" --scan --pattern '{durawheel:*}:m'); do
			notes+=$(at "$number" hget "$key" node)
		done
		[ -n "$notes" ] || return 1
	done
}

# Without the first master new handles use the others; and when it comes back empty, peers write
# again what it had, and keep the shards of the others.
test_redis_cluster_works_without_the_first_master() {
	local number first added=0
	on_cluster
	write_timers 39 1h
	expect 0 durawheel add --topic t --in 1h --id 40
	await is_noted 0 1 2
	expect 0 durawheel import timers
	start --peer --http "unix:$PWD/web"
	durawheel run --peer >>fired 2>log.peer &
	peer=$!
	await is_divided

	end_first
	await grep -q 'shard 0 cannot be used' log
	await grep -q 'shard 0 cannot be used' log.peer
	expect 6 durawheel stats
	says "shard 0 is cut off: redis://127.0.0.1:${cluster_ports[first]}/0 (cluster): no connec"
	grep -q '^owner  *several processes$' out
	expect 6 durawheel list --json
	says 'the list lacks the timers of shards that cannot be read now$'
	[[ $(wc -l <out) =~ ^[123]?[0-9]$ && -s out ]] || fail "$(wc -l <out) are listed"
	web_get /api/v1/timers >page
	grep -q '"lacks": *true' page || fail "$(cat page)"
	for number in {41..50}; do
		if durawheel add --topic t --in 1h --id "$number" >out 2>err; then
			added=$((added + 1))
		fi
	done
	[ $added -gt 0 ] || fail "no timer is added: $(cat err)"
	await answers_metrics 'durawheel_nodes_away 1' 'durawheel_shards{state="refused"} [1-9]'

	sleep 2.5
	rm -rf "cluster/$first/dump.rdb" "cluster/$first/appendonlydir"
	cluster_node "$PWD/cluster" "$first"
	await grep -q 'emptied or set back: .* restored' log
	await is_divided
	await has_count pending $((40 + added))
	await is_noted "$first"
	lacks 'lost ownership' log
	lacks 'lost ownership' log.peer
	kill -TERM $peer
	wait $peer || fail "the peer exits $?"
	peer=
	stop_owner
}

# A peer that has joined without the list leaves emptied shards to the peers that know their timers.
test_redis_cluster_joiner_takes_no_emptied_shard() {
	local number first
	on_cluster
	write_timers 40 1h
	expect 0 durawheel import timers
	start --peer
	durawheel run --peer >>fired 2>log.peer &
	peer=$!
	await is_divided

	end_first
	await grep -q 'shard 0 cannot be used' log
	durawheel run --peer >>fired 2>log.joiner &
	joiner=$!
	sleep 14 # it takes what nobody has from 10 s on
	rm -rf "cluster/$first/dump.rdb" "cluster/$first/appendonlydir"
	cluster_node "$PWD/cluster" "$first"
	await grep -q 'emptied or set back: .* restored' log
	await has_count pending 40
	for number in log log.peer log.joiner; do
		lacks 'lost ownership' $number
	done
	kill -TERM $peer $joiner
	wait $peer $joiner || fail "a peer exits $?"
	peer='' joiner=''
	stop_owner
}

# Without the first master, and so without their list, new peers take what a dead one had at the
# others.
test_redis_cluster_peers_go_on_without_their_list() {
	local number first
	on_cluster
	start --peer
	await grep -q 'has 16 of 16 shards' log
	write_timers 20 3s
	expect 0 durawheel import timers
	kill_owner
	end_first

	start --peer
	await grep -q 'has [1-9][0-9]* of 16 shards' log
	await grep -q '"id"' fired
	cluster_node "$PWD/cluster" "$first"
	await grep -q 'has 16 of 16 shards' log
	stop_owner
}

# A master and its replica are gone for good. The others get its slots, where the owner writes the
# timers again; and then a new namespace can be opened, which two of three masters do not let.
test_redis_cluster_gives_lost_slots_away() {
	local number first
	on_cluster
	write_timers 40 1h
	expect 0 durawheel import timers
	expect 0 durawheel import --name alone timers
	start
	end_first
	await grep -q 'shard 0 cannot be used' log
	expect 6 durawheel add --name new --topic t --in 1h --id 1
	says 'too few masters of the cluster answer for a namespace that is new there; redis:'
	says ': no connection'

	number=$(((first + 1) % 3))
	echo yes | redis-cli --cluster fix "127.0.0.1:${cluster_ports[number]}" \
		--cluster-fix-with-unreachable-masters >log.fix 2>&1
	await has_count pending 40
	stop_owner
	expect 0 durawheel add --name new --topic t --in 1h --id 1
	expect 0 durawheel stats
	lacks 'cut off' err
	# Its first shard is empty, and nobody has restored it.
	expect 0 durawheel stats --name alone
	lacks 'is new' err
}

# answers_metrics PATTERN...: the web server has such lines.
answers_metrics() {
	local pattern
	web_get /metrics >metrics
	for pattern in "$@"; do
		grep -q "^$pattern" metrics || return 1
	done
}

# watching PORT: the words of ACL SETUSER in durawheel(7), at a Sentinel.
watching() {
	sed -n '/ACL SETUSER watch/,/[^e]$/p' "$build/durawheel.7" |
		sed -e 's/.*SETUSER//' -e 's/\\e$//' -e 's/\\(aq//g' -e 's/\\-/-/g' \
			-e s/SECRET/guard/ | tr '\n' ' '
}

test_redis_sentinel_user_with_the_least_rights() {
	local port rights
	on_redis
	port=$((redis_port + 1))
	mkdir sentinel
	printf '%s\n' "sentinel monitor orders 127.0.0.1 $redis_port 1" >sentinel/conf
	redis_exec "$PWD/sentinel/conf" --sentinel --bind 127.0.0.1 --port $port >sentinel/log \
		2>&1 </dev/null &
	export standby=$! # is ended as one
	await redis-cli -p $port PING
	read -ra rights <<<"$(watching)"
	redis-cli -p $port ACL SETUSER "${rights[@]}" >log.acl
	grep -qx OK log.acl || fail "the manual's words are wrong: $(cat log.acl): ${rights[*]}"
	export DURAWHEEL_SENTINEL_PASSWORD=guard
	DURAWHEEL_STORE="redis+sentinel://127.0.0.1:$port/orders?sentinel-user=watch"
	start
	expect 0 durawheel add --topic t --in 0 --id a
	await grep -q '"id":"a"' fired
	stop_owner
	[ -z "$(redis-cli -p $port ACL LOG)" ] || fail "denied: $(redis-cli -p $port ACL LOG)"
	redis-cli -p $port ACL SETUSER watch '-sentinel|master' >log.acl
	expect 6 durawheel list
	says "127.0.0.1:$port.*: NOPERM .*sentinel|master"
}

# The command on a Redis server of its own, which answers on a unix socket and on 127.0.0.1.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=tests/support/redis_server.sh
. "$here/../support/redis_server.sh"

# on_redis [OPTION...]: this test's store is a server with these options.
on_redis() {
	redis_start "$PWD" "$@"
	export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
}

redis() {
	redis-cli -s socket --no-auth-warning "$@"
}

# shard_count [NAME]: of the namespace; empty without one.
shard_count() {
	redis HGET "{${1-durawheel}:00}:m" shards
}

test_redis_every_command() {
	on_redis
	expect 0 durawheel add --topic t --id a --in 1h --data hello
	prints a
	expect 4 durawheel add --topic t --id a --in 1h --new
	printf '{"id":"b","topic":"u","in":"2h","data_base64":"/w=="}\n{}\n' >lines
	expect 1 durawheel import --json lines
	prints '{"imported":1,"refused":1}'
	expect 0 durawheel list --json
	[ "$(ids_of out | tr '\n' ' ')" = 'a b ' ]
	expect 0 durawheel show a
	grep -q '^data  *hello$' out
	expect 0 durawheel move a --in 3h
	expect 0 durawheel list --json
	[ "$(ids_of out | tr '\n' ' ')" = 'b a ' ]
	expect 3 durawheel cancel a none
	says 'none: no such timer'
	expect 0 durawheel check --json
	grep -q '^{"pending":1,"claimed":0,"dead":0,"inbox":2,"flaw_count":0,"flaws":\[\],' out
	expect 0 durawheel stats
	grep -q '^owner  *none: nothing fires until one runs' out
	expect 0 durawheel purge --yes
	prints 'purged 1 timers and 0 dead letters'
	has_count pending 0
	expect 0 durawheel check
}

test_redis_dead_letters() {
	on_redis
	expect 0 durawheel add --topic t --at 2020-01-01T00:00:00Z --late-after 1h --id late
	expect 0 durawheel run --until-idle
	is_counted out 0
	expect 0 durawheel dead list --json
	grep -q '"id":"late","topic":"t","reason":"LATE"' out
	expect 0 durawheel dead requeue late --in 1h
	expect 3 durawheel dead requeue late
	has_count pending 1
	expect 0 durawheel move late --in 0
	expect 0 durawheel run --until-idle
	[ "$(ids_of out)" = late ]
	expect 3 durawheel dead drop late
}

# on_letter RANK COMMAND [WORD...]: of the dead letters in $key; their names have a NUL in them.
on_letter() {
	redis EVAL "local name = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
		return redis.call(ARGV[2], KEYS[2], name, unpack(ARGV, 3))" 2 \
		"$key" "${key%d}D" "$@"
}

# A letter that is damaged, or gone, has its place all the same: none is listed twice or left out.
test_redis_damaged_dead_letters() {
	local i key
	on_redis
	for ((i = 1; i <= 600; i++)); do
		printf '{"id":"{x}%d","topic":"t","at":"2020-01-01T00:00:00Z",' "$i"
		echo '"late_after":"1s"}'
	done | durawheel import
	expect 0 durawheel run --until-idle
	key=$(redis --scan --pattern '*:d')
	[ "$(redis ZCARD "$key")" = 600 ]
	for i in 0 499 511 599; do # pages end there
		[ "$(on_letter "$i" HSET x)" = 0 ]
	done
	[ "$(on_letter 100 HDEL)" = 1 ]
	expect 0 durawheel dead list --json
	[ "$(ids_of out | sort -u | wc -l)" = 600 ]
	is_counted out 600
	expect 1 durawheel check --json
	grep -q '"dead":600,"inbox":0,"flaw_count":5,' out || fail "check: $(cat out)"
	expect 0 durawheel dead drop '{x}600'
	redis UNLINK "${key%d}D"
	expect 0 durawheel dead list --json
	is_counted out 599
	expect 1 durawheel check --json
	grep -q '"dead":599,"inbox":0,"flaw_count":599,' out || fail "check: $(cat out)"
}

# A key that somebody else has written, of another type: it is named, by whatever stumbles on it.
test_redis_keys_of_another_type() {
	local key owner
	on_redis
	expect 0 durawheel add --topic t --in 1h --id e # in shard 3
	for key in m l z h i d D e; do
		redis RENAME "{durawheel:03}:$key" kept # if it is there
		redis LPUSH "{durawheel:03}:$key" foreign
		expect 1 durawheel check --json
		grep -q '"flaw_count":1,"flaws":\[{"id":"{durawheel:03}:'"$key"'",' out ||
			fail "check: $(cat out)"
		durawheel run --until-idle >fired 2>err &
		owner=$!
		await grep -q 'durawheel: running, ' err
		says "shard 3 cannot be used, .* the key {durawheel:03}:$key is of the type list "
		kill $owner
		wait $owner || fail "run exits $?"
		redis DEL "{durawheel:03}:$key"
		redis RENAME kept "{durawheel:03}:$key"
	done
	expect 0 durawheel check
	redis RENAME '{durawheel:03}:z' kept
	redis SET '{durawheel:03}:z' foreign
	redis SET '{durawheel:04}:e' foreign
	expect 6 durawheel add --topic t --in 1h --id e
	says 'the key {durawheel:03}:z is of the type string instead of zset'
	says 'e: the store failed'
	expect 6 durawheel stats
	says 'the key {durawheel:03}:z is'
	expect 1 durawheel check
	grep -q '^flaw .*{durawheel:03}:z: is of the type string instead of zset: rename' out
	grep -q '^flaw .*{durawheel:04}:e: is of the type string instead of zset: rename' out
	redis SET '{durawheel:00}:m' foreign
	expect 6 durawheel check
	says 'the key {durawheel:00}:m is of another type than hash'
}

# Somebody else has put timers into shards to which their ids do not belong. They are not fired, and
# set aside once; a timer of the same id and version that is at home knows nothing of it.
test_redis_timers_in_a_wrong_shard() {
	local key
	on_redis
	expect 0 durawheel add --topic t --in 0 --id q --data home # in shard 6
	expect 0 durawheel add --topic t --in 0 --id r             # in shard 5
	for key in h z k; do
		redis COPY "{durawheel:06}:$key" "{durawheel:01}:$key"
		redis RENAME "{durawheel:05}:$key" "{durawheel:02}:$key"
	done
	expect 1 durawheel check --json
	grep -q '"flaw_count":2,' out || fail "check: $(cat out)"
	grep -q '"id":"r",.*"is in a shard to which the id does not belong"' out
	expect 0 durawheel run --until-idle
	[ "$(ids_of out)" = q ]
	says 'timer q is in the wrong shard (1): it becomes a dead letter (CORRUPT)$'
	says 'damaged timers, not fired: 2; see durawheel dead list$'
	expect 0 durawheel check
	expect 0 durawheel run --until-idle
	is_counted out 0
	! grep -q damaged err || fail "it says again: $(cat err)"
	expect 0 durawheel dead list --json
	[ "$(ids_of out | sort | tr '\n' ' ')" = 'q r ' ]
	grep -q '"id":"q","topic":"t","reason":"CORRUPT".*"data":"home"' out || fail "$(cat out)"
	expect 3 durawheel dead requeue q
	expect 0 durawheel dead drop q
	expect 3 durawheel dead drop q
	expect 0 durawheel dead drop --all
	prints 'dropped 1'
	has_count dead 0
}

# What a client adds beside a running owner, by either way to the server, is fired by that.
test_redis_clients_beside_an_owner() {
	on_redis
	start
	expect 0 durawheel add --topic t --in 0 --id one --store "redis://127.0.0.1:$redis_port/0"
	expect 0 durawheel add --topic t --in 0 --id two --store "unix://$PWD/socket"
	await is_counted fired 2
	[ "$(ids_of fired | sort | tr '\n' ' ')" = 'one two ' ]
	redis CLIENT LIST | grep -q 'name=durawheel ' || fail 'CLIENT LIST does not name it'
	expect 0 durawheel stats
	grep -q "^owner .*, pid $owner, durawheel " out
	expect 6 durawheel run
	says "namespace durawheel is owned by .*, pid $owner, .*its lease ends in .*run --standby"
	expect 6 durawheel purge --yes
	says 'stop it, and its peers if it has any (durawheel members), or wait with run --standby'
	stop_owner
	has_count pending 0
}

# The owner is gone, by its own will or by a kill: the standby is the owner.
test_redis_standby() {
	local signal
	on_redis
	for signal in TERM KILL; do
		start
		durawheel run --standby >>fired 2>standby.log &
		standby=$!
		await grep -q 'standing by' standby.log
		kill -$signal "$owner"
		wait "$owner" || true
		await grep -q 'this standby owns the store now' standby.log
		await grep -q 'running, ' standby.log
		expect 0 durawheel add --topic t --in 0 --id "$signal"
		await grep -q "\"id\":\"$signal\"" fired
		kill -TERM "$standby"
		wait "$standby"
		standby=
	done
	owner=
	[ "$(ids_of fired | tr '\n' ' ')" = 'TERM KILL ' ]
}

# Stopped for longer than its lease, an owner finds another one when it goes on: it says so, fires
# nothing, and owns again when the other one is gone.
test_redis_owner_that_loses_the_store_and_gets_it_back() {
	on_redis
	start
	durawheel run --standby >other 2>standby.log &
	standby=$!
	await grep -q 'standing by' standby.log
	kill -STOP "$owner"
	await grep -q 'running, ' standby.log
	expect 0 durawheel add --topic t --in 0 --id one
	await is_counted other 1
	kill -CONT "$owner"
	await grep -q 'lost ownership of the store: .*: standing by' log
	expect 0 durawheel add --topic t --in 0 --id two
	await is_counted other 2
	kill -TERM "$standby"
	wait "$standby"
	standby=
	await grep -q 'this process owns the store now' log
	expect 0 durawheel add --topic t --in 0 --id three
	await is_counted fired 1
	[ "$(ids_of fired)" = three ]
	stop_owner
}

# Stopped for longer than its lease, an owner runs no command that waited for a job: the other owner
# has run it.
test_redis_owner_that_was_stopped_runs_nothing_that_waited() {
	on_redis
	program_is one_by_one "echo \"\$DW_ID\" >>ran; until [ -e go ]; do sleep 0.05; done"
	config '[topic t]' "exec = $PWD/one_by_one" 'jobs = 1'
	start --config run.conf
	durawheel add --topic t --in 0 --id first >out
	await grep -q first ran
	durawheel add --topic t --in 0 --id second >out
	await has_count claimed 2
	durawheel run --standby >other 2>standby.log &
	standby=$!
	await grep -q 'standing by' standby.log
	kill -STOP "$owner"
	await grep -q '"id":"second"' other
	touch go
	kill -CONT "$owner"
	await grep -q 'lost ownership of the store' log
	stop_owner
	[ "$(cat ran)" = first ] || fail "it has run: $(cat ran)"
	kill -TERM "$standby"
	wait "$standby"
	standby=
}

# Several handles meet the same outage, and each says so: it is written once, and its end is news.
test_redis_outage_is_logged_once() {
	local form
	if ! durawheel run --help | grep -q -- --http; then
		return # built without
	fi
	for form in text json; do
		on_redis --appendonly yes --appendfsync always
		start --http "unix:$PWD/http" --log $form
		redis_kill
		await grep -q 'no connection: Connection refused' log
		sleep 2 # an answer is overdue, too
		on_redis --appendonly yes --appendfsync always
		await grep -q ': connected\b' log
		sleep 1 # the other handles
		[ "$(grep -c 'no connection: Connection refused' log)" = 1 ] || fail "$(cat log)"
		[ "$(grep -c ': connected' log)" = 1 ] || fail "$(cat log)"
		grep ': connected' log | grep -q '\binfo\b' || fail "$(cat log)"
		! grep -q 'has not answered for' log || fail "$(cat log)"
		stop_owner
		redis_kill
	done
}

# The server is killed under the owner; with appendfsync always it has kept what was confirmed.
test_redis_server_that_is_killed() {
	on_redis --appendonly yes --appendfsync always
	start
	expect 0 durawheel add --topic t --id before --in 1s
	redis_kill
	await grep -q 'no connection: Connection refused' log
	expect 6 durawheel add --topic t --id meanwhile --in 0
	says 'no connection: Connection refused$'
	is_counted err 1
	on_redis --appendonly yes --appendfsync always
	await grep -q ': connected$' log
	await is_counted fired 1
	! grep -q 'the store failed\|answers again' log || fail "said twice: $(cat log)"
	expect 0 durawheel add --topic t --id after --in 0
	await is_counted fired 2
	[ "$(ids_of fired | tr '\n' ' ')" = 'before after ' ]
	stop_owner
}

test_redis_namespaces() {
	on_redis
	expect 0 durawheel add --topic t --id a --in 1h
	expect 0 durawheel --name shop add --topic t --id b --in 1h
	expect 0 durawheel list --json
	[ "$(ids_of out)" = a ]
	DURAWHEEL_NAME=shop expect 0 durawheel list --json
	[ "$(ids_of out)" = b ]
	expect 0 durawheel --name shoop list
	says 'the namespace shoop is new$'
	expect 0 durawheel --store "$DURAWHEEL_STORE/1" list
	says 'the namespace durawheel is new$'
	expect 2 durawheel --name 'a b' list
	says 'name "a b": write 1 to 63 letters'
	expect 2 durawheel --name '' list
}

test_redis_shards_are_fixed_when_made() {
	on_redis
	expect 0 durawheel add --topic t --in 1h
	[ "$(shard_count)" = 16 ]
	expect 0 durawheel add --name four --shards 4 --topic t --in 1h --id a
	[ "$(shard_count four)" = 4 ]
	expect 2 durawheel list --name four --shards 5
	says 'the namespace four has 4 shards, not 5: .*; leave --shards out$'
	expect 0 durawheel run --name four --topic none --until-idle --shards 4
	expect 0 durawheel cancel --name four a
	for bad in 0 -1 257 4x ''; do
		expect 2 durawheel list --shards "$bad"
		says --shards
	done
}

# Looking makes nothing; and what an owner of four shards has put outlives a FLUSHALL, whoever comes
# first.
test_redis_shards_that_nobody_has_fixed() {
	on_redis
	export DURAWHEEL_NAME=four
	expect 0 durawheel list
	expect 3 durawheel show a
	expect 0 durawheel stats
	[ "$(redis DBSIZE)" = 0 ] || fail "it leaves $(redis KEYS '*')"
	start --shards 4
	expect 0 durawheel add --topic t --id before --in 2s
	redis FLUSHALL
	expect 0 durawheel stats
	expect 0 durawheel add --topic t --id after --in 0
	await is_counted fired 2
	[ "$(ids_of fired | sort | tr '\n' ' ')" = 'after before ' ]
	[ "$(shard_count four)" = 4 ]
	! grep -q 'another process' log || fail "$(cat log)"
	stop_owner
	redis HSET '{four:00}:m' shards x
	expect 1 durawheel list
	says 'shards in {four:00}:m is "x", not a number from 1 to 256$'
	expect 1 durawheel run
	says 'shards in {four:00}:m is "x", not a number from 1 to 256$'
}

test_redis_owner_writes_an_emptied_server_before_it_ends() {
	on_redis
	many 300 | sed s/2020/2120/ | durawheel import
	start
	await has_count inbox 0
	redis FLUSHALL >reply
	stop_owner
	has_count pending 300
}

# What a client has needed of a shard goes when it closes.
test_redis_sessions_that_end() {
	local i
	on_redis
	for i in 1 2 3; do
		expect 0 durawheel add --topic t --id "$i" --in 1h
	done
	many 100 | durawheel import
	expect 0 durawheel cancel 1 2
	[ -z "$(redis KEYS '*}:s:*')" ] || fail "it leaves $(redis KEYS '*}:s:*')"
	start
	durawheel run --standby >>fired 2>standby.log &
	standby=$!
	await grep -q 'standing by' standby.log
	expect 0 durawheel cancel 3
	stop_owner
	await grep -q 'running, ' standby.log
	kill -TERM "$standby"
	wait "$standby"
	standby=
	[ -z "$(redis KEYS '*}:[sl]*')" ] || fail "it leaves $(redis KEYS '*}:[sl]*')"
}

test_redis_password() {
	on_redis --requirepass 'pass/w@rd'
	expect 6 durawheel list
	says 'wants a password: give it in the URL, by password-file=FILE, or in DURAWHEEL_'
	DURAWHEEL_REDIS_PASSWORD='pass/w@rd' expect 0 durawheel list
	DURAWHEEL_REDIS_PASSWORD=wrong expect 6 durawheel list
	says 'does not accept this password$'
	printf 'pass/w@rd\n' >secret
	expect 2 durawheel list --store "unix://$PWD/socket?password-file=$PWD/secret"
	says 'may be read or changed by others'
	chmod 600 secret
	expect 0 durawheel list --store "unix://$PWD/socket?password-file=$PWD/secret"
	expect 0 durawheel list --store "redis://:pass%2Fw%40rd@127.0.0.1:$redis_port"
	expect 6 durawheel list --store "redis://:hunter2@127.0.0.1:$redis_port"
	! grep -q hunter2 err || fail "the password is printed: $(cat err)"
	expect 2 durawheel list --store "redis://user@127.0.0.1:$redis_port"
	says 'names a user without a password'
}

test_redis_that_cannot_be_used() {
	on_redis --maxmemory 64mb --maxmemory-policy allkeys-lru
	expect 6 durawheel list
	says 'maxmemory-policy is allkeys-lru, so it would throw timers away: .* noeviction$'
	is_counted err 1
	redis CONFIG SET maxmemory-policy volatile-ttl
	expect 6 durawheel list
	says 'maxmemory-policy is volatile-ttl, so it would throw leases away: .* noeviction$'
	redis CONFIG SET maxmemory-policy noeviction
	redis REPLICAOF 127.0.0.1 1
	expect 6 durawheel list
	says 'is a replica, which takes no timers'
	redis REPLICAOF NO ONE
	expect 0 durawheel list
	expect 6 durawheel list --store "$DURAWHEEL_STORE/99"
	says 'database 99'
	expect 6 durawheel list --store unix:///nonexistent/socket
	says 'unix:///nonexistent/socket.*No such file or directory$'
	expect 6 durawheel list --store redis://nowhere.invalid
	says 'nowhere.invalid:6379/0: the host is not found'
	expect 6 durawheel list --store "rediss://127.0.0.1:$redis_port"
	says 'use redis://$'
	expect 2 durawheel list --store 'redis://localhost?ca=x'
	says 'are for TLS: rediss://HOST$'
	expect 2 durawheel list --store redis://
	says 'names no host: redis://HOST\[:PORT\]\[/DB\], with '
	expect 2 durawheel list --store redis://a:1,b:2
	says 'lists hosts, but redis:// takes one: use redis+cluster://HOST,HOST for a cluster'
	expect 2 durawheel list --store unix://socket
	says 'has no absolute path'
}

# It says so in its INFO, which is all that is asked of it.
test_redis_that_is_too_old() {
	perl -MIO::Socket::UNIX -e '
		my $socket = IO::Socket::UNIX->new(Local => "old", Listen => 5);
		while (my $client = $socket->accept) {
			sysread $client, my $greeting, 4096;
			syswrite $client, "+OK\r\n\$20\r\nredis_version:5.0.14\r\n";
			push @clients, $client;
		}' &
	standby=$! # so it is ended with the test
	await test -S old
	expect 6 durawheel list --store "unix://$PWD/old"
	says 'the server is Redis 5.0: 6.2 or newer is needed$'
}

# Over maxmemory nothing new comes in; what is there fires and can be cancelled.
test_redis_that_is_full() {
	on_redis
	expect 0 durawheel add --topic t --id a --in 1h
	expect 0 durawheel add --topic t --id b --in 1h
	redis CONFIG SET maxmemory 1
	expect 6 durawheel add --topic t --id c --in 0
	says 'c: the store is full$'
	says 'the server is over its maxmemory: new timers are refused until memory is free'
	expect 0 durawheel cancel a
	expect 0 durawheel list --json
	[ "$(ids_of out)" = b ]
	redis CONFIG SET maxmemory 0
	expect 0 durawheel add --topic t --id c --in 0
}

test_redis_run_on_a_terminal() {
	on_redis
	many 20000 | durawheel import
	script -qec 'stty cols 60 -onlcr; durawheel run --until-idle >fired' typescript </dev/null \
		>/dev/null
	is_counted fired 20000
	tr '\r' '\n' <typescript | grep -q 'running, 20000 timers loaded'
}

# by_hand TEXT WITH: the commands of lua/README.md for another language, with TEXT replaced by WITH.
by_hand() {
	# shellcheck disable=SC2016
	sed -n '/^```sh$/,/^```$/ { /^```/!p }' "$here/../../lua/README.md" >commands
	grep -q "$1" commands || fail "lua/README.md has no $1"
	sed -i "s/$1/$2/; s|redis-cli|redis-cli -s $PWD/socket|; s|^lua=.*|lua=$build/lua|" commands
	[ -n "$cancel" ] || sed -i '/^run cancel_one/d' commands
	bash -eu commands
}

# With redis-cli alone, beside an owner.
test_redis_timers_by_hand() {
	on_redis
	export DURAWHEEL_NAME=orders
	start
	cancel='' by_hand '+ 1800' '+ 0' >out
	grep -qx '[0-9]*' out || fail "it prints $(cat out)"
	await is_counted fired 1
	grep -q '"id":"order:42","topic":"order.timeout".*"data":"{\\"order\\":42}"' fired
	cancel=yes by_hand '+ 1800' '+ 3600' >out
	[ "$(tail -n 1 out)" = OK ] || fail "it prints $(cat out)"
	has_count pending 0
	stop_owner
	is_counted fired 1
}

# rights: the words of ACL SETUSER in durawheel(7), which divides the line.
rights() {
	sed -n '/^redis.-cli ACL SETUSER timers/,/[^e]$/p' "$build/durawheel.7" |
		sed -e 's/^redis.-cli//' -e 's/\\e$//' -e 's/\\(aq//g' -e 's/\\-/-/g'
}

# The least that a user of the server must be allowed, as the manual says: for each command.
test_redis_user_with_the_rights_of_the_manual() {
	local user
	on_redis
	user=$(rights)
	# shellcheck disable=SC2086
	[ "$(redis $user)" = OK ] || fail "the manual's user: $user"
	export DURAWHEEL_STORE=redis://timers:SECRET@127.0.0.1:$redis_port DURAWHEEL_NAME=orders
	start
	durawheel run --standby >>fired 2>standby.log &
	standby=$!
	await grep -q 'standing by' standby.log
	expect 0 durawheel add --topic t --in 1h --id a
	expect 0 durawheel move a --in 2h
	expect 0 durawheel list
	expect 0 durawheel show a
	expect 0 durawheel check
	expect 0 durawheel stats
	expect 0 durawheel cancel a
	expect 0 durawheel add --topic t --in 0
	await is_counted fired 1
	expect 0 durawheel add --topic t --at 2020-01-01T00:00:00Z --late-after 1s --id late
	await has_count dead 1
	expect 0 durawheel dead list
	expect 0 durawheel dead requeue late --in 1h
	kill_owner
	await grep -q 'running, ' standby.log
	kill -TERM "$standby"
	wait "$standby"
	standby=
	expect 0 durawheel run --exec 'exit 1' --until-idle --topic none
	expect 0 durawheel purge --yes
	[ -z "$(redis ACL LOG)" ] || fail "it was denied: $(redis ACL LOG)"
	[ ! -s err ] || fail "$(cat err)"
	expect 6 durawheel --name others list
	[ -n "$(redis ACL LOG)" ] || fail 'it may do more than the manual says'
}

# plant_newer: order:42 as a later version of the library stores it.
plant_newer() {
	printf '%b' '\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0\x76\xa4\xd6\x2d\x53\x06' \
		'\0\0\0\0\0\0\0\0\0\x27\xa6\x40\x91\x03\0\x8c\x95\x97\xc7' \
		'\x44\x57\x54\x03\x40\0\0\0\x8c\x95\x97\xc7' \
		'\x08\x0d\0\0\xa0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab' \
		'order:42order.timeout\x01\0\x02\0\0\xff\x87\x01\x05\0daily' >value
	redis -x HSET '{durawheel:03}:h' order:42 <value
	redis ZADD '{durawheel:03}:z' 1780306200000000 order:42
	redis HSET '{durawheel:03}:m' format 3
}

test_redis_newer_timer_is_left_alone() {
	on_redis
	expect 0 durawheel add --topic t --id a --in 1h
	plant_newer >planted
	expect 0 durawheel list
	grep -q ' order:42 order.timeout newer  *0  *0$' out
	expect 0 durawheel list --topic order.timeout --json
	grep -q '^{"id":"order:42",.*,"state":"newer","attempt":0,"data":""}$' out
	is_counted out 1
	expect 0 durawheel show order:42
	grep -q '^state  *newer$' out
	tells order:42 newer stats
	expect 6 durawheel cancel order:42
	says '^durawheel: order:42: written by a newer durawheel: this version leaves it alone$'
	expect 6 durawheel add --topic t --id order:42 --in 1h
	says 'written by a newer durawheel'
	expect 4 durawheel add --topic t --id order:42 --in 1h --new
	expect 6 durawheel move order:42 --in 1h
	expect 1 durawheel check
	grep -q '^flaw .*order:42.*the timer is of a newer durawheel$' out
	expect 6 durawheel run --until-idle
	says 'durawheel has timers of a newer durawheel, which this version cannot deliver'
	expect 0 durawheel cancel a
	redis --raw HGET '{durawheel:03}:h' order:42 >now
	printf '\n' >>value
	cmp value now
}

# Commands with a journal, while their Redis server is away, and afterwards.
# shellcheck shell=bash disable=SC2154,SC2034

# lasting_redis: this test's store is a server that loses nothing.
lasting_redis() {
	on_redis --appendonly yes --appendfsync always
	export DURAWHEEL_STORE=unix://$PWD/socket
}

test_journal_keeps_what_is_asked() {
	lasting_redis
	expect 0 durawheel add --topic t --id stored --in 1h --journal j
	[ ! -s err ] || fail "$(cat err)"
	expect 0 durawheel journal list j
	[ ! -s out ] || fail "$(cat out)"
	redis_kill
	expect 0 durawheel add --topic t --id kept --in 1h --journal j
	prints kept
	says 'kept: Redis is away: kept in the journal until it is back'
	expect 6 durawheel cancel stored --journal j
	says 'stored: Redis is away: kept in the journal .*the timer may start'
	expect 0 durawheel journal list j --json
	grep -q '^{"id":"kept","what":"put","namespace":"durawheel","topic":"t",' out
	grep -q '"at":[0-9]*,"due":[0-9]*}$' out
	grep -q '^{"id":"stored","what":"cancel","namespace":"durawheel","topic":"",' out
	grep -q '"at":[0-9]*,"due":null}$' out
	[ "$(wc -l <out)" = 2 ]
	expect 6 durawheel journal replay j --timeout 300ms
	says '2 timers are left in the journal'
	lasting_redis
	expect 0 durawheel journal replay j
	prints 'replayed 2 timers'
	expect 0 durawheel journal list j
	[ ! -s out ] || fail "$(cat out)"
	expect 0 durawheel list --json
	[ "$(ids_of out)" = kept ]
}

test_journal_rows_are_dropped() {
	lasting_redis
	redis_kill
	for id in a b c; do
		expect 0 durawheel add --topic t --id $id --in 1h --journal j
	done
	expect 0 durawheel journal drop j b
	expect 3 durawheel journal drop j b
	says 'b: the journal has no such timer'
	expect 2 durawheel journal drop j
	says 'name ids, or write --yes for all'
	expect 0 durawheel journal drop j --yes
	prints 'dropped 2 timers'
	expect 0 durawheel journal list j
	[ ! -s out ] || fail "$(cat out)"
}

# What Redis has instead of what the journal expected is named.
test_journal_replay_names_what_was_gone() {
	lasting_redis
	expect 0 durawheel add --topic t --id a --in 1h
	redis_kill
	expect 6 durawheel cancel a --journal j
	lasting_redis
	expect 0 durawheel cancel a
	expect 1 durawheel journal replay j
	says 'a: Redis had no such timer any more'
	prints 'replayed 1 timers'
}

# A journal's rows are for the server that it was opened for, even if that never answered.
test_journal_of_another_server_is_refused() {
	lasting_redis
	redis_kill
	expect 0 durawheel add --topic t --id a --in 1h --journal j
	mv socket gone 2>/dev/null || true
	mkdir other
	cd other || fail "no folder other"
	lasting_redis
	expect 2 durawheel journal replay ../j
	says 'j has timers for unix://.*another server: open it there'
	expect 2 durawheel add --topic t --id b --in 1h --journal ../j
	says 'has timers for unix://'
	expect 0 durawheel journal list ../j
	grep -q a out
	expect 0 durawheel list --json
	[ ! -s out ] || fail "$(cat out)"
	expect 0 durawheel journal replay ../j --yes
	prints 'replayed 1 timers'
	expect 0 durawheel list --json
	[ "$(ids_of out)" = a ]
	expect 0 durawheel add --topic t --id b --in 1h --journal ../j
}

test_journal_of_bad_files() {
	lasting_redis
	expect 6 durawheel journal list none
	says 'no such journal: none'
	expect 6 durawheel journal replay none
	[ ! -e none ]
	echo text >text
	expect 6 durawheel journal list text
	says 'text: is not a database'
	expect 0 durawheel --store sqlite:timers add --topic t --in 1h
	expect 6 durawheel journal list timers
	says 'is a store of timers, not a journal'
	expect 0 durawheel add --topic t --in 1h --journal j
	expect 6 durawheel --store sqlite:j list
	says 'is the journal of a store in Redis'
	expect 2 durawheel --store sqlite:timers add --topic t --in 1h --journal j
	says 'takes no journal; --journal is for a store in Redis'
	expect 2 durawheel add --topic t --in 1h --journal sqlite:j
	says 'the journal "sqlite:j" is a file: leave sqlite: out$'
	expect 2 durawheel journal
	expect 2 durawheel journal none
	says 'no command journal none; it is list, replay or drop'
	expect 2 durawheel list --journal j
	says 'list has no option --journal'
}

test_journal_of_the_owner_is_in_its_stats() {
	lasting_redis
	start --journal j
	await has_count journal_rows 0
	expect 0 durawheel stats
	grep -q '^  journal rows  *0$' out
	expect 6 durawheel add --topic t --in 1h --journal j
	says 'is owned by .*; a journal is one program.s: name another file$'
	stop_owner
}

test_journal_of_an_owner_that_fires() {
	lasting_redis
	expect 0 durawheel add --topic t --id stored --in 2s
	start --journal j --outage fire --lease 5m
	redis_kill
	await is_counted fired 1
	[ "$(ids_of fired)" = stored ]
	lasting_redis
	await has_count journal_rows 0
	await has_count pending 0
	stop_owner
	[ "$(wc -l <fired)" = 1 ]
}

test_journal_of_an_owner_with_a_web_server() {
	lasting_redis
	start --journal j --http "unix:$PWD/s"
	await grep -q 'serving unix:' log
	stop_owner
}

test_journal_policies_that_are_wrong() {
	expect 2 durawheel run --outage fire
	says '^durawheel: --outage is for --journal FILE$'
	expect 2 durawheel run --store redis://localhost --journal j --outage wait
	says '^durawheel: --outage "wait": write hold or fire'
	expect 2 durawheel run --lease 0s
	says '^durawheel: --lease 0s: write 1s to 24h'
	expect 2 durawheel run --lease 25h
	says 'write 1s to 24h'
	[ ! -e j ]
}

test_a_journal_leaves_less_room_for_data() {
	lasting_redis
	head -c 1047553 /dev/zero | tr '\0' a >data
	expect 2 durawheel add --topic t --in 1h --journal j --data-file data
	says 'add: the data has 1047553 bytes: at most 1047552 with --journal$'
	printf '{"topic":"t","in":"1h","data":"%s"}\n' "$(cat data)" >line
	expect 1 durawheel import --journal j line
	says 'line 1: "data" has 1047553 bytes: at most 1047552$'
	expect 0 durawheel import line
}

# answers PATH STATUS WORDS: what the page of this test answers.
answers() {
	python3 -c '
import socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect("http")
request = "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
link.sendall((request % sys.argv[1]).encode())
answer = b""
while more := link.recv(65536):
    answer += more
sys.exit(not (answer.split()[1] == sys.argv[2].encode() and sys.argv[3].encode() in answer))
' "$@"
}

# The page is there without the store, and finds it when it is back.
test_journal_page_without_a_store() {
	lasting_redis
	redis_kill
	if ! durawheel serve --help | grep -q -- --http; then
		return # built without
	fi
	durawheel run --standby --journal j --http "unix:$PWD/http" >fired 2>log &
	owner=$!
	await grep -q 'serving unix:' log
	answers /readyz 503 'the store is away; the journal takes what is asked'
	answers /healthz 200 ok
	answers /metrics 200 'durawheel_store_up 0'
	lasting_redis
	await answers /readyz 200 ready
	await answers /metrics 200 'durawheel_owner 1'
	redis_kill
	await answers /readyz 503 'and due timers wait'
	stop_owner
}

test_journal_without_descriptors_is_refused_in_words() {
	local limit
	for limit in {10..18}; do
		code=0
		(
			ulimit -n "$limit"
			exec durawheel --store "unix://$PWD/none" add --topic t --in 1h \
				--journal "j$limit"
		) >out 2>err || code=$?
		[ "$code" = 0 ] || grep -q -e 'Too many open files' -e 'too many files open' err ||
			fail "with $limit descriptors: $(cat err)"
	done
}

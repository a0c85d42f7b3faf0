# Queues on Redis, into which other programs write; and batches.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# foreign VALUE: another program adds a message with this value to the queue of the topic g.
foreign() {
	number=$((${number:-100} + 1))
	redis HSET '{durawheel:00}:qm:g' "$number" "$1"
	redis RPUSH '{durawheel:00}:q:g' "$number"
}

# Another program deletes one of the orders of a queue. The next messages come all the same, and
# check says what is left over.
test_redis_queue_without_its_order() {
	on_redis
	expect 0 durawheel add --shards 1 --topic t --in 1h --id first
	expect 0 durawheel topic set g --queue
	expect 0 durawheel push --topic g --id lost
	redis DEL '{durawheel:00}:q:g'
	expect 0 durawheel push --topic g --id pushed
	expect 1 durawheel check
	grep -q ':qm:g: has 2 messages, and the orders have 1$' out
	expect 0 durawheel take --topic g
	is_counted out 1
	grep -q '"id":"pushed"' out
	redis DEL '{durawheel:00}:qm:g' # while it is taken
	foreign "1 1795478400000000 0 - added"$'\nd'
	expect 0 durawheel topic show g
	start
	expect 0 durawheel add --topic t --in 0 --id other
	await grep -q '"id":"other"' fired
	stop_owner
	expect 0 durawheel take --topic g
	grep -q '"id":"added"' out
}

# What another program writes wrongly into a queue is dropped, counted and told.
test_redis_queue_with_damaged_messages() {
	local due=1795478400000000
	on_redis
	expect 0 durawheel add --shards 1 --topic t --in 1h --id first
	expect 0 durawheel topic set g --queue --max 13 --overflow refuse
	foreign junk
	foreign "1 $due 0 - "$'\nd'
	foreign "1 $due 0 - $(text 256)"$'\nd'
	foreign "1 $due 0 - a"$'\x01b\nd'
	foreign "1 soon 0 - a"$'\nd'
	foreign "1 99999999999999999999 0 - a"$'\nd'
	foreign "1 $due 0 - a"
	foreign "1 $due many - a"$'\nd'
	{ printf '1 %s 0 - a\n' $due && text 1048577; } |
		redis -x HSET '{durawheel:00}:qm:g' 7
	redis RPUSH '{durawheel:00}:q:g' 7
	foreign "1 $due 0 - "$'\xff\nd'
	foreign "1 $due 0 77 a"$'\nd'
	foreign "1 $due 0 - good"$'\nd'
	redis ZADD '{durawheel:00}:ql:g' 1 junk
	expect 6 durawheel push --topic g
	expect 1 durawheel check
	grep -q ':qm:g: the message 101 has no head: the next take drops it$' out
	grep -q ':ql:g: junk is no token of a message: the take that finds it drops it$' out
	expect 0 durawheel take --topic g --max 5 --wait 10s
	is_counted out 1
	grep -q '"id":"good".*"data":"d"}$' out
	says 'the message 10[0-9]-[0-9]*-0 of the queue g has no valid id: dropped$'
	says 'of the queue g does not match its checksum: dropped$'
	expect 0 durawheel topic show g --json
	grep -q '"taken":1,"later":0,"dropped":12,' out
	expect 0 durawheel check
	expect 0 durawheel push --topic g
}

# A setting that is the default again is 0 in the stored text.
test_redis_queue_with_defaults_again() {
	on_redis
	expect 0 durawheel topic set g --queue --max 1 --hide 2s --retries 3
	expect 0 durawheel topic set g --max 0 --hide 0
	expect 0 durawheel topic show g --json
	grep -q '"queue":true.*,"retries_max":3}' out
	expect 0 durawheel push --topic g --id a
	expect 0 durawheel push --topic g --id b
	expect 0 durawheel take --topic g
	is_counted out 2
	expect 0 durawheel take --topic g # they are hidden
	is_counted out 0
	expect 0 durawheel topic set g --no-queue
	expect 3 durawheel push --topic g --id c
}

# Before the first release a queue was a stream. It is refused in words, and stays as it is.
test_redis_queue_of_the_old_form() {
	local words='{durawheel:00}:q:g.* is of the type stream instead of list (an old queue):'
	on_redis
	expect 0 durawheel add --shards 1 --topic t --in 1h --id other
	expect 0 durawheel topic set g --queue
	redis XADD '{durawheel:00}:q:g' '*' d x
	expect 6 durawheel push --topic g
	says "$words"
	expect 6 durawheel take --topic g
	says "$words"
	expect 1 durawheel check
	grep -q "$words" out
	[ "$(redis XLEN '{durawheel:00}:q:g')" = 1 ]
	redis RENAME '{durawheel:00}:q:g' old
	expect 0 durawheel push --topic g --id a
	expect 0 durawheel take --topic g
	grep -q '"id":"a"' out
}

# A key of a queue that another program has made holds up its own topic, and says so.
test_redis_queue_of_a_wrong_type() {
	local key
	on_redis
	expect 0 durawheel add --shards 1 --topic t --in 500ms --id other
	expect 0 durawheel topic set g --queue
	expect 0 durawheel topic set h --queue
	expect 0 durawheel add --topic h --in 500ms --id ready
	for key in '{durawheel:00}:q:g' '{durawheel:00}:qt:g' '{durawheel:00}:ql:g' \
		'{durawheel:00}:qm:g'; do
		redis DEL "$key"
		redis SET "$key" x
		expect 0 durawheel add --topic g --in 0 --id "$key"
		expect 6 durawheel push --topic g
		says "the key $key is of the type string instead of "
		expect 6 durawheel take --topic g --wait 10s
		says 'a queue is damaged: durawheel check says where$'
		if [[ $key == *:qt:g ]]; then
			expect 6 durawheel ack g/1-0/1
			says 'g/1-0/1: its queue is damaged: durawheel check says where$'
		fi
		expect 1 durawheel check
		grep -q "$key: is of the type string instead of " out
		expect 0 durawheel topic list
		start
		await grep -q 'the queue g is damaged (durawheel check says where): its timers' log
		await grep -q '"id":"other"' fired
		expect 0 durawheel take --topic h --wait 10s
		redis DEL "$key"
		expect 0 durawheel take --topic g --wait 10s
		grep -qF "\"id\":\"$key\"" out
		stop_owner
		! grep -q 'store failed' log || fail "the owner tells $(cat log)"
	done
}

is_told_of_the_key() {
	expect 6 timeout 20 durawheel "$@"
	says 'the key {durawheel:01}:t is of the type string instead of hash: rename or delete it$'
	says ' queue is damaged: durawheel check says where$'
}

settings_are_in_shard() {
	[ "$(redis HEXISTS "{durawheel:$1}:t" g)" = 1 ]
}

# A key of the settings that another program has made holds up no other topic, and no check.
test_redis_settings_of_a_wrong_type() {
	local key
	on_redis
	expect 0 durawheel add --shards 16 --topic t --in 1h --id first
	for key in t u n; do
		expect 0 durawheel topic set g --queue --max 9 # its shard is 01
		redis DEL "{durawheel:04}:$key" "{durawheel:01}:n"
		redis SET "{durawheel:04}:$key" x
		redis SET "{durawheel:01}:n" x
		expect 0 durawheel topic set g --retries 3
		expect 0 durawheel push --topic g --id a
		expect 0 durawheel take --topic g
		is_counted out 1
		expect 0 durawheel topic show g --json
		grep -q '"queue":true.*"max":9' out
		expect 1 timeout 20 durawheel check
		grep -q "{durawheel:04}:$key: is of the type string instead of hash: rename" out
		redis DEL "{durawheel:04}:$key" "{durawheel:01}:n"
	done
	redis DEL '{durawheel:01}:t'
	redis SET '{durawheel:01}:t' x
	expect 1 timeout 20 durawheel check
	expect 0 durawheel topic list
	run_set() { durawheel topic set g --retries 4; }
	! run_set >out 2>err || fail 'settings in a key of a wrong type were set'
	grep -q 'the key {durawheel:01}:t is of the type string instead of hash' err
	is_told_of_the_key push --topic g
	is_told_of_the_key take --topic g
	is_told_of_the_key ack g/1-0/1
	start
	expect 0 durawheel add --topic g --in 0 --id due
	await grep -q 'the queue g is damaged (durawheel check says where): its timers wait' log
	durawheel work --topic g --exec 'cat >>got' 2>worked &
	worker=$!
	await grep -q 'cannot take: a queue is damaged: durawheel check says where; trying' worked
	kill $worker
	wait $worker
	redis DEL '{durawheel:01}:t' # the owner writes the settings again
	await settings_are_in_shard 01
	expect 0 durawheel take --topic g --wait 20s
	grep -q '"id":"due"' out
	stop_owner
	! grep WRONGTYPE err worked log || fail 'an error of the server is shown'
}

# A change of settings and an owner name such a key also in a shard that is not that of the topic.
test_redis_settings_key_of_another_shard() {
	local key
	on_redis
	expect 0 durawheel add --shards 16 --topic t --in 1h --id first
	expect 0 durawheel topic set g --queue # its shard is 01
	for key in t u n; do
		redis DEL "{durawheel:04}:$key"
		redis SET "{durawheel:04}:$key" x
		expect 0 durawheel topic set g --retries 3
		says "the key {durawheel:04}:$key is of the type string instead of hash: rename or"
		redis DEL "{durawheel:04}:$key"
		expect 0 durawheel topic set g --retries 3
		[ ! -s err ] || fail "$(cat err)"
	done
	redis DEL '{durawheel:04}:t'
	redis SET '{durawheel:04}:t' x
	start
	await grep -q 'the key {durawheel:04}:t is of the type string instead of hash: rename' log
	redis DEL '{durawheel:04}:t'
	await settings_are_in_shard 04
	stop_owner
}

# The claims of one topic are answered one after the other. Those that are due at once fill batches
# all the same.
test_redis_batch_waits_for_claims() {
	local run runs
	runs=$(scaled 20)
	on_redis
	for ((run = 1; run <= runs; run++)); do
		add_due 200
		rm -f counts
		expect 0 durawheel run --batch 50 --until-idle --exec \
			'cat >/dev/null; echo "$DW_COUNT" >>counts'
		[ "$(sort counts | uniq -c | tr -s ' ')" = ' 4 50' ] ||
			fail "the commands of run $run got $(tr '\n' ' ' <counts)"
	done
}

test_redis_work_says_why_messages_are_dead() {
	on_redis
	dead_messages_say_why
}

# consumer_of LANGUAGE: the consumer of lua/README.md in it.
consumer_of() {
	sed -n "/^\`\`\`$1\$/,/^\`\`\`/ { /^\`\`\`/!p }" "$here/../../lua/README.md"
}

# consume COMMAND: the consumer in the shell, with this command at its end.
consume() {
	consumer_of bash | sed -e "s|redis-cli|redis-cli -s $PWD/socket|" -e '/^queue [ta]/d' \
		-e 's/^ns=orders/ns=durawheel/' -e "s|^lua=.*|lua=$build/lua|" >commands
	echo "$1" >>commands
	bash -eu commands
}

test_redis_queue_consumer_in_the_shell() {
	on_redis
	expect 0 durawheel topic set game.x --queue
	expect 0 durawheel push --topic game.x --id a --data hello
	consume "$(consumer_of bash | sed -n 's/^\(queue take.*\)#.*/\1/p')" >taken
	[ "$(tail -n 1 taken)" = hello ] || fail "it takes $(cat taken)"
	expect 0 durawheel take --topic game.x
	prints ''
	consume "queue answer done 0 1 $(grep -x '[0-9]*-[0-9]*-0/1' taken)" >out
	[ "$(cat out)" = OK ] || fail "it is told $(cat out)"
	expect 0 durawheel topic show game.x --json
	grep -q '"waiting":0,"taken":0,' out
}

# python_reads COMMAND...: the consumer in Python reads until the command succeeds, and is killed.
python_reads() {
	local pid
	python3 consumer.py "$PWD/socket" durawheel game.x >>lines &
	pid=$!
	await "$@"
	kill -KILL $pid
	wait $pid || true
}

has_read() {
	[ "$(wc -l <lines)" -ge "$1" ]
}

has_read_all() {
	[ "$(sort -u lines | wc -l)" = 1000 ]
}

# A consumer that is killed in the middle, again and again, loses nothing.
test_redis_queue_consumer_in_python() {
	local k
	on_redis
	expect 0 durawheel topic set game.x --queue --hide 1s
	for ((k = 1; k <= 1000; k++)); do
		echo "{\"id\":\"m$k\",\"data\":\"d$k\"}"
	done | durawheel push --topic game.x - >out
	consumer_of python | sed "s|/usr/share/durawheel/lua|$build/lua|" >consumer.py
	: >lines
	for ((k = 1; k <= 5; k++)); do
		python_reads has_read $((k * 150))
	done
	python_reads has_read_all
	grep -qx 'm1000 d1000' lines
	has_count dead 0
}

# A message has no bound of lateness of its own: the queue has --expire.
test_redis_queue_takes_timers_that_may_be_late() {
	on_redis
	expect 0 durawheel topic set game.x --queue
	expect 0 durawheel add --topic game.x --id a --in 0 --late-after 1h --data hello
	expect 0 durawheel run --until-idle
	expect 0 durawheel take --topic game.x
	grep -q '"id":"a"' out || fail "it takes '$(cat out)'"
}

# consumer_waits TOPIC: the server knows one.
consumer_waits() {
	redis KEYS "{*}:qc:$1" | grep -q .
}

# The server is emptied: whoever waits goes on when the owner has restored the settings.
test_redis_queue_is_waited_for_when_the_server_was_emptied() {
	local taker worker
	on_redis
	expect 0 durawheel topic set game.x --queue
	start
	durawheel take --topic game.x --wait 60s >taken 2>taker.log &
	taker=$!
	expect 0 durawheel topic set game.y --queue
	durawheel work --topic game.y --exec 'cat >>worked' >out.work 2>worker.log &
	worker=$!
	await consumer_waits game.x
	await consumer_waits game.y
	redis FLUSHALL >out
	await durawheel topic show game.x
	await durawheel topic show game.y
	expect 0 durawheel push --topic game.x --id a --data hello
	expect 0 durawheel push --topic game.y --id b --data hello
	wait $taker || fail "take ends with $?: $(cat taker.log)"
	grep -q '"id":"a"' taken
	await grep -q '"id":"b"' worked
	kill $worker
	wait $worker || true
	stop_owner
}

# The server closes the connection on it.
test_redis_push_over_a_limit_of_the_server_is_told_in_words() {
	on_redis
	expect 0 durawheel topic set g --queue
	text 1048576 >data
	redis CONFIG SET client-query-buffer-limit 1mb
	redis CONFIG SET proto-max-bulk-len 1mb
	code=0
	durawheel push --topic g --data-file data >out 2>err || code=$?
	[ "$code" = 6 ] || fail "push exits $code"
	says 'closed the connection on a push of 1048[0-9]* bytes'
	says 'client-query-buffer-limit'
}

# One message is too large for the server, which closes the connection on it. The other messages of
# the stream are pushed, whether they come before it or behind it.
test_redis_push_of_lines_over_a_limit_of_the_server() {
	local code=0
	on_redis
	expect 0 durawheel topic set g --queue
	redis CONFIG SET client-query-buffer-limit 1mb
	redis CONFIG SET proto-max-bulk-len 1mb
	for ((i = 0; i < 60; i++)); do
		echo "{\"id\":\"m$i\",\"data\":\"d\"}"
		[ $((i % 30)) != 10 ] || {
			printf '{"id":"large","data":"'
			text 1048576
			echo '"}'
		}
	done >lines
	durawheel push --topic g - <lines >out 2>err || code=$?
	[ "$code" = 6 ] || fail "push exits $code"
	prints '60 pushed'
	says 'closed the connection on a push of 1048[0-9]* bytes'
	says 'client-query-buffer-limit'
	[ "$(grep -c 'may have been done\|done or not' err)" -le 2 ] || fail "$(head -c 500 err)"
	expect 0 durawheel topic show g --json
	grep -q '"waiting":60,' out
}

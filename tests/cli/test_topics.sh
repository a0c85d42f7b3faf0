# topic, push, take, ack, work: topics and their queues.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# queue [OPTION]...: the topic q is a queue.
queue() {
	expect 0 durawheel topic set q --queue "$@"
}

# has_topic KEY VALUE: what topic show says of q.
has_topic() {
	durawheel topic show q --json | grep -q "\"$1\":$2[,}]"
}

test_topic_keeps_its_settings() {
	expect 0 durawheel topic set t --retries 0 --backoff 10s --jitter 0
	expect 0 durawheel topic show t --json
	grep -q '"retries_max":-1,"backoff_first_us":10000000,"jitter_percent":-1}' out
	expect 0 durawheel topic set t --retries 0 --backoff 10s --jitter 0 --keep 36h
	expect 0 durawheel topic show t --json
	grep -q '"jitter_percent":-1,"keep_us":129600000000}' out
	expect 0 durawheel topic show t
	grep -q '^keep  *1d12h$' out
	expect 0 durawheel topic pause t
	expect 0 durawheel topic list --json
	grep -q '"topic":"t","queue":false,"paused":"delivery"' out
	expect 0 durawheel topic resume t
	expect 0 durawheel topic list
	grep -q '^t  *set  *no ' out
	expect 0 durawheel topic drop t
	expect 3 durawheel topic drop t
	says 't has no settings$'
	expect 3 durawheel topic show t
}

test_topic_pause_says_what_it_has_paused() {
	empty_store
	expect 0 durawheel add --topic mail --in 1h --id a
	expect 0 durawheel topic pause mail
	prints 'paused mail: none of its timers starts'
	[ ! -s err ] || fail "it says $(cat err)"
	expect 0 durawheel topic pause mail --intake
	prints 'paused mail: none of its timers starts, and it takes nothing new'
	expect 0 durawheel topic resume mail
	prints 'resumed mail'
	expect 0 durawheel topic pause mial --intake-only
	prints 'paused mial: it takes nothing new'
	says 'no timer and no setting of the topic mial is known: is it spelled right?$'
	expect 0 durawheel topic resume miall
	says 'no timer and no setting of the topic miall is known: is it spelled right?$'
	expect 0 durawheel topic set later --queue
	expect 0 durawheel topic pause later
	[ ! -s err ] || fail "it says $(cat err)"
}

waits_for_handler() {
	durawheel topic show mail --json | grep -q '"waits":"handler"'
}

test_topic_says_why_what_is_due_waits() {
	empty_store
	expect 0 durawheel add --topic mail --in 0 --id a
	expect 0 durawheel show a
	grep -q '^waits for  *nobody owns the store' out
	start --topic other --exec true
	await waits_for_handler
	expect 0 durawheel topic show mail
	grep -q '^due waits  *the owner has no handler for the topic$' out
	expect 0 durawheel show a
	grep -q '^waits for  *the owner has no handler for the topic$' out
	expect 0 durawheel topic pause mail
	expect 0 durawheel show a
	grep -q '^waits for  *the topic or its owner is paused$' out
	stop_owner
}

test_topic_pause_of_the_intake_alone() {
	empty_store
	expect 0 durawheel add --topic q --id a --in 0
	expect 0 durawheel topic pause q --intake-only
	expect 0 durawheel topic list --json
	grep -q '"topic":"q".*"paused":"intake"' out
	expect 6 durawheel add --topic q --id b --in 0
	start --topic q
	await grep -q '"id":"a"' fired
	stop_owner
	expect 0 durawheel topic resume q
	expect 0 durawheel add --topic q --id b --in 0
	expect 2 durawheel topic pause q --intake --intake-only
	says 'topic pause: write --intake or --intake-only$'
}

# A timer was accepted before the pause, so its message enters the queue.
test_topic_pause_of_the_intake_lets_timers_enter_the_queue() {
	empty_store
	queue
	expect 0 durawheel add --topic q --id a --in 0
	expect 0 durawheel topic pause q --intake-only
	expect 6 durawheel push --topic q --id b
	says 'the topic is paused: it takes nothing new$'
	start --topic u
	expect 0 durawheel take --topic q --wait 10s
	grep -q '"id":"a"' out
	stop_owner
}

# Settings that were damaged in the file are named, and topic set mends them.
test_topic_settings_damaged_by_hand() {
	queue --max 5000
	LC_ALL=C sed -i 's/queue=1 max=5000/queue=1 max=5O00/' timers.db
	expect 1 durawheel check
	grep -q '^flaw  *q: its settings are damaged ("max=5O00" is not NAME=NUMBER): write' out
	expect 0 durawheel topic set q --max 5000
	expect 0 durawheel check
	has_topic max 5000
	LC_ALL=C sed -i 's/queue=1 max=5000/queue=8 max=5000/' timers.db
	expect 1 durawheel check
	grep -q '^flaw  *q: its settings are damaged (queue is 0 or 1): write' out
	expect 0 durawheel topic set q --queue
	expect 0 durawheel check
}

# What topic set does not name stays, also a pause.
test_topic_set_changes_what_it_names() {
	queue --max 7 --overflow refuse --expire 3m --hide 5s --keep 1h
	expect 0 durawheel topic pause q --intake
	expect 0 durawheel topic set q --retries 3
	expect 0 durawheel topic show q --json
	grep -q '"queue":true,"paused":"both"' out
	grep -q '"retries_max":3,"max":7,"overflow":1,"expire_us":180000000,"hide_us":5000000,' out
	expect 0 durawheel topic set q --max 0 --overflow drop-oldest --expire 0 --keep 0
	expect 0 durawheel topic show q --json
	grep -q '"retries_max":3,"hide_us":5000000}' out
	expect 2 durawheel topic set q --queue --no-queue
	says 'topic set: write --queue or --no-queue$'
	expect 2 durawheel topic set q --no-queue --max 3
	says ': --max, --overflow, --expire and --hide are of a queue, .* needs --queue$'
	expect 0 durawheel topic set q --no-queue
	expect 0 durawheel topic show q --json
	grep -q '"queue":false,"paused":"both".*"retries_max":3}' out
	expect 0 durawheel topic set q --queue
	expect 0 durawheel topic resume q
	expect 0 durawheel push --topic q
}

test_topic_refuses_bad_settings_in_words() {
	expect 2 durawheel topic set t --retries 256
	says 'write a number from 0 to 255$'
	expect 2 durawheel topic set t --max 5
	says ': --max, --overflow, --expire and --hide are of a queue, .* needs --queue$'
	expect 2 durawheel topic set t --queue --overflow half
	says 'write drop-oldest or refuse$'
	expect 2 durawheel topic set t --queue --hide 10ms
	says ': --hide is not 1 s to 12 h, 0 or never$'
	expect 2 durawheel topic set t --keep 91d
	says ': --keep is not 0 to 90 days$'
	expect 2 durawheel topic
	says 'write set, list, show, pause, resume or drop$'
}

test_paused_topic_fires_nothing() {
	empty_store
	expect 0 durawheel topic pause t
	start --topic t --topic u
	expect 0 durawheel add --topic t --id a --in 0
	expect 0 durawheel add --topic u --id b --in 0
	await grep -q '"id":"b"' fired
	! grep -q '"id":"a"' fired || fail 'a paused topic fired'
	expect 0 durawheel topic pause t --intake
	expect 6 durawheel add --topic t --id c --in 0
	says 'c: the topic is paused: it takes nothing new$'
	expect 0 durawheel topic resume t
	await grep -q '"id":"a"' fired
	stop_owner
}

test_message_is_taken_and_answered() {
	queue
	expect 0 durawheel push --topic q --id a --data hello
	printf '{"id":"b","data_base64":"/w=="}\n\n{"data":"x"}\n' >lines
	expect 0 durawheel push --topic q - <lines
	prints '2 pushed'
	expect 0 durawheel take --topic q --max 2
	is_counted out 2
	grep -q '^{"token":"q/[0-9]*/1","id":"a","topic":"q","due":[0-9]*,"attempt":1,' out
	grep -q '"data":"hello"}$' out
	grep -q '"id":"b",.*"data_base64":"/w=="}$' out
	cp out taken
	expect 0 durawheel ack - <taken
	expect 5 durawheel ack - <taken
	says 'this delivery is over$'
	has_topic waiting 1
	expect 0 durawheel take --topic q
	token=$(sed 's/^{"token":"\([^"]*\)".*/\1/' out)
	expect 0 durawheel ack --touch "$token"
	expect 0 durawheel ack --dead "$token"
	expect 0 durawheel dead list --json
	grep -q '"topic":"q","reason":"GAVE_UP"' out
	has_topic taken 0
}

test_take_waits_for_a_timer() {
	queue
	start
	durawheel take --topic q --wait 1h >taken &
	taker=$!
	expect 0 durawheel add --topic q --id a --in 50ms --data x
	wait $taker
	grep -q '"id":"a".*"attempt":1,"data":"x"}$' taken
	! grep -q '"id":"a"' fired || fail 'a timer of a queue fired'
	stop_owner
}

test_full_queue_refuses_or_drops() {
	queue --max 2 --overflow refuse
	expect 0 durawheel push --topic q --id a
	expect 0 durawheel push --topic q --id b
	expect 6 durawheel push --topic q --id c
	says 'q: its queue is full$'
	queue --max 2 --overflow drop-oldest
	expect 0 durawheel push --topic q --id c
	expect 0 durawheel take --topic q
	[ "$(grep -o '"id":"."' out | tr -d '\n')" = '"id":"b""id":"c"' ]
	has_topic dropped 1
}

test_wrong_words_about_queues() {
	empty_store
	expect 3 durawheel push --topic q
	says 'it is no queue: see durawheel topic set$'
	expect 3 durawheel take --topic q
	expect 2 durawheel take
	says 'write --topic T$'
	queue
	for bad in garbage g//1 x '' g/1/ $'q\n/1/1' /1/1 q/18446744073709551616-0/1 \
		q/1-18446744073709551616/1 q/1/18446744073709551616; do
		expect 2 durawheel ack q/1/1 "$bad"
		says 'token 2 is not one of a message: it looks like game.x/17/1, in Redis like '
		expect 2 durawheel ack --touch "$bad"
		says 'token 1 is not one of a message'
	done
	printf 'q/1/1\0x\n' >lines
	expect 2 durawheel ack - <lines
	says 'line 1 is neither a token nor an object with one$'
	expect 2 durawheel push --topic q file
	expect 2 durawheel take --topic q --max 1001
	expect 2 durawheel ack q/1/1 --retry 1m --dead
	expect 1 durawheel push --topic q - <<<'{"id":7}'
	says '^durawheel: line 1: write an object'
}

# A take hands out what there is, in whatever order it names its topics.
test_take_passes_a_topic_that_is_no_queue() {
	local words topics
	queue
	for words in 'nope q' 'q nope' 'nope none q'; do
		read -ra topics <<<"$words"
		expect 0 durawheel push --topic q --id a
		expect 0 durawheel take "${topics[@]/#/--topic=}"
		grep -q '"id":"a"' out
		expect 3 durawheel take --wait 10s "${topics[@]/#/--topic=}"
		says '^durawheel: nope is no queue: see durawheel topic set$'
	done
	expect 2 timeout 8 durawheel work --topic '' --exec true # it waits for nothing
	says '^durawheel: the topic is empty'
	expect 3 durawheel work --topic nope --topic q --exec true
	says 'durawheel: nope is no queue: see durawheel topic set$'
}

test_work_runs_a_command_for_each_batch() {
	queue
	for ((i = 1; i <= 50; i++)); do printf '{"id":"m%02d"}\n' $i; done >lines
	expect 0 durawheel push --topic q - <lines
	durawheel work --topic q --batch 20 --jobs 1 \
		--exec 'cat >>got; echo "$DW_TOPIC $DW_COUNT" >>counts' 2>log &
	owner=$!
	await is_counted got 50
	await has_topic taken 0
	[ "$(tr '\n' ' ' <counts)" = 'q 20 q 20 q 10 ' ] || fail "the commands got $(cat counts)"
	grep -o '"id":"m[0-9]*"' got | sort -c
	stop_owner
}

# Timers that wait for room in their queue enter as fast as a consumer makes room, oldest first, and
# are due all the while.
test_timers_of_a_full_queue_follow_a_consumer() {
	local runner i began
	queue --max 10 --overflow refuse
	for ((i = 100; i < 200; i++)); do
		printf '{"id":"m%d","topic":"q","due":%d}\n' $i $i
	done >lines
	expect 0 durawheel import lines
	start --topic other
	runner=$owner
	await has_topic waiting 10
	await has_topic due 90
	has_topic pending 0
	began=$SECONDS
	durawheel work --topic q --batch 10 --jobs 1 --exec 'cat >>got' 2>log &
	owner=$!
	await is_counted got 100
	# One a second would take 90 s.
	[ $((SECONDS - began)) -lt "$(of_idle 60)" ] || fail "$((SECONDS - began)) s"
	stop_owner
	owner=$runner
	stop_owner
	grep -o '"id":"m[0-9]*"' got | sort -c
}

test_work_answers_by_exit_code_and_descriptor_3() {
	queue --backoff 1ms
	printf '{"id":"a"}\n{"id":"b"}\n{"id":"c"}\n' >lines
	expect 0 durawheel push --topic q - <lines
	durawheel work --topic q --batch 3 --jobs 1 --exec 'cat >now; cat now >>got
		grep "\"id\":\"a\"" now | sed "s/,.*/,\"verdict\":\"dead\"}/" >&3
		[ -e failed ] || { echo >failed; exit 7; }' 2>log &
	owner=$!
	await is_counted got 5
	await has_topic waiting 0
	await has_topic taken 0
	[ "$(grep -c '"id":"a"' got)" = 1 ]
	expect 0 durawheel dead list --json
	is_counted out 1
	grep -q '"id":"a"' out
	stop_owner
	grep -q 'and 2 more: the command exits with 7' log
}

# letters_are COUNT
letters_are() {
	durawheel dead list --json >letters && is_counted letters "$1"
}

# letter_has ID TEXT: why its message is dead.
letter_has() {
	grep "\"id\":\"$1\"" letters | grep -qF "\"why\":\"$2\"" ||
		fail "$1: $(cat letters)"
}

# A command fails for the message a after its retries, for b at once, is killed for c, and answers d
# by itself: the dead letters say why.
dead_messages_say_why() {
	queue --retries 1 --backoff 1ms
	printf '{"id":"%s"}\n' a b c d e >lines
	expect 0 durawheel push --topic q - <lines
	durawheel work --topic q --batch 1 --jobs 1 --exec 'line=$(cat)
		echo "a first line" >&2
		case $line in
		*\"id\":\"a\"*) echo "no such game" >&2; exit 7 ;;
		*\"id\":\"b\"*) exit 100 ;;
		*\"id\":\"c\"*) kill -KILL $$ ;;
		*\"id\":\"e\"*) exit 255 ;;
		esac
		echo "$line" | sed "s/,.*/,\"verdict\":\"dead\",\"why\":\"too old\"}/" >&3' 2>log &
	owner=$!
	await letters_are 5
	stop_owner
	letter_has a 'exit status 7: no such game'
	letter_has b 'exit status 100: a first line'
	letter_has c 'signal 9: a first line'
	letter_has e 'exit status 255: a first line'
	letter_has d 'too old'
	expect 0 durawheel dead list
	grep -q 'exit status 7: no such game' out
}

test_work_says_why_messages_are_dead() {
	dead_messages_say_why
}

# The exit code 0 settles no message whose answer is wrong.
test_work_tries_messages_with_wrong_answers_again() {
	queue --retries 1 --backoff 1ms
	printf '{"id":"%s"}\n' a b c d >lines
	expect 0 durawheel push --topic q - <lines
	durawheel work --topic q --batch 1 --jobs 1 --exec 'line=$(cat)
		case $line in
		*\"id\":\"a\"*) said="\"verdict\":\"maybe\"" ;;
		*\"id\":\"b\"*) said="\"verdict\":\"retry\",\"in\":1" ;;
		*\"id\":\"c\"*) said="\"verdict\":\"retry\",\"in\":\"60 sec.\"" ;;
		*) said="\"verdict\":\"retry\",\"in\":null,\"why\":\"no mail\"" ;;
		esac
		echo "$line" | sed "s/,.*/,$said}/" >&3' 2>log &
	owner=$!
	await letters_are 4
	stop_owner
	for id in a b c; do letter_has $id 'a wrong answer'; done
	letter_has d 'no mail'
}

# What a command has answered counts, also if it is ended because work stops.
test_work_keeps_the_answers_of_a_stopped_command() {
	queue --hide 1s
	for id in a b; do expect 0 durawheel push --topic q --id $id; done
	durawheel work --topic q --batch 2 --exec 'head -n 1 |
		sed "s/,.*/,\"verdict\":\"done\"}/" >&3; : >answered; exec sleep 60' 2>log &
	owner=$!
	await test -e answered
	stop_owner
	expect 0 durawheel take --topic q --max 2 --wait 5s
	is_counted out 1 && grep -q '"id":"b"' out
}

# What becomes a dead letter is said, by the id of its message.
test_work_and_ack_tell_of_dead_messages() {
	local token
	queue --retries 1 --backoff 1ms
	expect 0 durawheel push --topic q --id a
	durawheel work --topic q --exec 'echo no such game >&2; exit 3' 2>log &
	owner=$!
	await grep -q 'a is dead: RETRIES: exit status 3: no such game$' log
	stop_owner
	[ "$(grep -c 'a (q/[-0-9]*/[12]): the command exits with 3 (attempt [12])$' log)" = 2 ] ||
		fail "$(cat log)"
	expect 0 durawheel push --topic q --id b
	expect 0 durawheel take --topic q
	token=$(sed 's/.*"token":"\([^"]*\)".*/\1/' out)
	expect 0 durawheel ack "$token" --dead
	says '^durawheel: b is dead: GAVE_UP$'
}

test_ack_says_why() {
	local token
	queue --retries 0
	for how in '--retry 1ms' --dead; do
		expect 0 durawheel push --topic q --id "a$how"
		expect 0 durawheel take --topic q
		token=$(sed 's/.*"token":"\([^"]*\)".*/\1/' out)
		# shellcheck disable=SC2086
		expect 0 durawheel ack "$token" $how --why 'no such game'
		says '^durawheel: a--.* is dead: .*: no such game$'
	done
	letters_are 2
	[ "$(grep -c '"why":"no such game"' letters)" = 2 ]
	expect 2 durawheel ack "$token" --why x
	says 'ack: --why is for --retry or --dead$'
	expect 2 durawheel ack "$token" --dead --why "$(text 256)"
	says 'ack: --why has 256 bytes: write at most 255$'
}

# Messages of a command that runs for longer than they are hidden stay hidden.
test_work_touches_what_it_works_on() {
	queue --hide 1s
	expect 0 durawheel push --topic q --id a
	durawheel work --topic q --jobs 2 \
		--exec 'cat >>got; until [ -e enough ]; do sleep 0.1; done' 2>log &
	owner=$!
	await is_counted got 1
	await has_topic taken 1
	expect 0 durawheel take --topic q --wait 3s
	prints ''
	: >enough
	await has_topic taken 0
	is_counted got 1
	stop_owner
}

# kill_workers N: so many workers die at some moment of their work, the last one does the rest.
kill_workers() {
	local i
	for ((i = 0; i < $1; i++)); do
		durawheel work --topic q --batch 5 --jobs 2 --exec 'cat >>got' 2>>log &
		owner=$!
		sleep "0.$(((RANDOM % 3) + 1))$((RANDOM % 10))"
		kill -KILL "$owner"
		wait "$owner" || true
	done
	durawheel work --topic q --batch 50 --exec 'cat >>got' 2>>log &
	owner=$!
	await has_topic waiting 0
	await has_topic taken 0
	stop_owner
}

# Nothing is lost, and a kill repeats at most what its two commands had.
test_killed_worker_loses_nothing() {
	local kills=${DW_LONG:+300} messages
	kills=${kills:-8}
	messages=$((kills * 40))
	queue --hide 1s
	for ((i = 1; i <= messages; i++)); do echo "{\"id\":\"m$i\"}"; done >lines
	expect 0 durawheel push --topic q - <lines
	kill_workers "$kills"
	grep -o '"id":"m[0-9]*"' got | sort -u >ids
	is_counted ids "$messages" || fail "some are lost: $(wc -l <ids) of $messages"
	[ "$(wc -l <got)" -le $((messages + kills * 10)) ] || fail "$(wc -l <got) of $messages"
}

# take_killed KILLS MESSAGES: takes and answers until all messages came; the first takes are killed.
take_killed() {
	local kills=$1 end=$((SECONDS + patience)) taker
	until [ "$(grep -o '"id":"m[0-9]*"' got | sort -u | wc -l)" = "$2" ]; do
		[ $SECONDS -lt $end ] || fail "only $(wc -l <got) of $2 came"
		durawheel take --topic q --max 10 >some 2>/dev/null &
		taker=$!
		if [ "$((kills--))" -gt 0 ]; then
			sleep "0.0$((RANDOM % 4))"
			kill -9 "$taker" || true # it may have ended
		fi
		wait "$taker" || true
		grep '}$' some >whole || { sleep 0.1 && continue; } # a kill may cut the last line
		cat whole >>got
		durawheel ack - <whole >/dev/null || true
	done
}

test_killed_take_loses_nothing() {
	local kills=${DW_LONG:+300} messages
	kills=${kills:-12}
	messages=$((kills * 12))
	queue --hide 5s # more than a slow machine needs from take to ack
	for ((i = 1; i <= messages; i++)); do echo "{\"id\":\"m$i\"}"; done >lines
	expect 0 durawheel push --topic q - <lines
	: >got
	take_killed "$kills" "$messages"
	[ "$(wc -l <got)" -le $((messages + kills * 10)) ] || fail "$(wc -l <got) of $messages"
}

# In SQLite the message and the end of its timer are one step: an owner that is killed makes no
# message twice.
test_killed_owner_makes_each_message_once() {
	local kills=${DW_LONG:+100}
	kills=${kills:-8}
	queue --hide 1h
	many $((kills * 200)) | sed 's/"topic":"t"/"topic":"q"/' >lines
	expect 0 durawheel import lines
	for ((; kills > 0; kills--)); do
		durawheel run >>fired 2>log &
		owner=$!
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		kill_owner
	done
	expect 0 durawheel run --until-idle
	: >got
	until expect 0 durawheel take --topic q --max 1000 && [ ! -s out ]; do
		cat out >>got
	done
	is_counted got "$(wc -l <lines)"
	grep -o '"id":"[0-9]*"' got | sort -u >ids
	is_counted ids "$(wc -l <lines)"
}

# is_tallied TOPIC N: the command has counted so many timers of it, and knows nothing else of them.
is_tallied() {
	durawheel topic list --json >listed
	grep -q "\"topic\":\"$1\".*\"pending\":$2,\"due\":0,\"running\":0,\"waiting\":0" listed &&
		! grep -qE '"(started|done|dead|oldest|late_p99_us)"' listed
}

# has_numbers TOPIC: an owner tells how many timers it has.
has_numbers() {
	durawheel topic list --json | grep -q "\"topic\":\"$1\".*\"pending\":1,\"due\":0"
}

# numbers_go_with_the_owner: whether it was stopped, killed, or another one has purged the store.
numbers_go_with_the_owner() {
	expect 0 durawheel topic set t --keep 1h
	is_tallied t 0 # before the first owner
	expect 0 durawheel add --topic t --id a --in 1h
	expect 0 durawheel add --topic u --id b --in 1h
	start
	await has_numbers t
	await has_numbers u
	stop_owner
	is_tallied t 1
	is_tallied u 1
	expect 0 durawheel add --topic sooner --id c --in 0
	expect 0 durawheel topic list
	sed 1d out >rows
	grep -q '^sooner  *-  *no  *0  *1  *0  *0  *0  *0$' rows
	grep -q '^t  *set  *no  *1  *0  *0  *0  *0  *0$' rows
	grep -q '^u  *-  *no  *1  *0  *0  *0  *0  *0$' rows
	LC_ALL=C sort -c rows
	says 'no process owns the store: all 3 timers were read to count them'
	expect 0 durawheel cancel c
	expect 0 durawheel topic show t
	lacks '^(pending|due|running|done|retried|dead)' out
	expect 3 durawheel topic show u
	says 'u has no settings, and no owner knows timers of it'
	expect 0 durawheel top --once
	grep -q '^ *-  *-  *-  *0  *-  *-  *-  *-  *-  *-  *t$' out
	start
	await has_numbers t
	kill_owner
	await is_tallied t 1
	expect 0 durawheel purge --yes
	is_tallied t 0
	start
	expect 0 durawheel topic list --json
	lacks '"topic":"u"|"pending":1' out
	stop_owner
}

test_topic_numbers_go_with_the_owner() {
	numbers_go_with_the_owner
}

test_topic_numbers_go_with_the_owner_in_redis() {
	on_redis
	numbers_go_with_the_owner
}

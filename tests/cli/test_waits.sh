# What a timer waits for: as why, show, topic show and top say it.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# A command that runs until the file "go" is there.
stays='touch began; until [ -e go ]; do sleep 0.05; done'

# shows ID WORD: show --json says it; WORD "": it says nothing.
shows() {
	if [ -n "$2" ]; then
		durawheel show --json "$1" | grep -q "\"waits\":\"$2\"}$"
	else
		durawheel show --json "$1" >shown && ! grep -q '"waits"' shown
	fi
}

# says_words ID WORDS
says_words() {
	expect 0 durawheel show "$1"
	grep -qx "waits for  *$2" out || fail "$1: $(cat out)"
}

# tells ID WORD COMMAND: why says it, and which command to type.
tells() {
	expect 0 durawheel why --json "$1"
	grep -q "\"waiting\":{\"waits\":\"$2\",.*\"command\":\"durawheel $3\"}}$" out ||
		fail "$1: $(cat out)"
	expect 0 durawheel why "$1"
	grep -qx "command  *durawheel $3" out || fail "$1: $(cat out)"
}

# all_say TOPIC ID WORD WORDS: top has 80 columns.
all_say() {
	await shows "$2" "$3"
	says_words "$2" "$4"
	expect 0 durawheel topic show "$1"
	grep -qx "due waits  *$4" out || fail "topic show: $(cat out)"
	python3 -B "$here/terminal.py" 24x80 "await= $3 +$1[^a-z.0-9]" send=q end=0 \
		-- durawheel top >screen 2>said || fail "$(cat said): $(tail -c 900 screen)"
}

# of_exec: with one command for all topics the handle is paused while it runs.
of_exec() {
	expect 0 durawheel add --topic mail --id a --in 0s
	start --jobs 1 --exec "$stays"
	await test -e began
	expect 0 durawheel add --topic mail --id b --in 0s
	expect 0 durawheel add --topic a.topic.of.22.letters --id c --in 0s
	all_say mail b workers 'all workers or jobs are at work'
	all_say a.topic.of.22.letters c workers 'all workers or jobs are at work'
	await shows a runs
	tells a runs 'topic show mail'
	tells b workers 'topic show mail'
	expect 0 durawheel topic pause mail
	all_say mail b paused 'the topic or its owner is paused'
	tells b paused 'topic resume mail'
	expect 0 durawheel topic resume mail
	touch go
	await lacks_timers
	stop_owner
	rm began go
}

lacks_timers() {
	has_count pending 0 && has_count claimed 0
}

# of_file: each topic of a file has a backlog. Timers of one deadline are told apart.
of_file() {
	printf '%s\n' '[topic mail]' "exec = sh -c '$stays'" 'jobs = 1' \
		'[topic batch]' 'exec = true' 'batch = 10' 'wait = 10s' >run.conf
	for id in a b c; do
		expect 0 durawheel add --topic mail --id $id --at 2026-01-01T00:00:00Z
	done
	expect 0 durawheel add --topic other --id o --in 0s
	start --config run.conf
	await test -e began
	all_say mail b workers 'all workers or jobs are at work'
	await shows c workers
	await shows a runs
	all_say other o handler 'the owner has no handler for the topic'
	tells o handler 'topic show other'
	# It is the first one that is due, and the last one that starts.
	expect 0 durawheel add --topic mail --id late --at 2025-01-01T00:00:00Z
	await shows late workers
	await shows a runs
	await shows b workers
	durawheel topic pause other --intake-only >out
	all_say other o handler 'the owner has no handler for the topic'
	until shows x batch; do
		durawheel cancel x >out 2>err || true
		expect 0 durawheel add --topic batch --id x --in 0s
		for _ in 1 2 3 4; do
			shows x batch || sleep 0.5
		done
	done
	tells x batch 'topic show batch'
	touch go
	expect 0 durawheel cancel o
	await lacks_timers
	stop_owner
	rm began go
}

test_waits_for_jobs() {
	of_exec
}

test_waits_for_jobs_of_a_file() {
	of_file
}

test_waits_without_an_owner() {
	expect 0 durawheel add --topic mail --id a --in 0s
	shows a owner
	says_words a 'nobody owns the store.*'
	tells a owner 'run --topic=mail --exec CMD'
}

test_waits_for_a_deadline_and_a_retry() {
	expect 0 durawheel add --topic mail --id 'is due' --in 1h
	tells 'is due' due "move --in 0s 'is due'"
	expect 0 durawheel topic set mail --backoff 1h
	expect 0 durawheel add --topic mail --id a --in 0s
	start --exec 'echo no answer >&2; exit 3'
	await retries a
	tells a retry 'move --in 0s a'
	grep -qx 'tried  *claims: 1, retries: 1' out
	grep -qx 'last said  *exit status 3: no answer' out
	grep -q '^waits for .*one comes later: exit status 3: no answer; until ' out
	stop_owner
}

retries() {
	durawheel why --json "$1" | grep -q '"waits":"retry"'
}

# Of an id without a timer: how it ended; and which topics keep ends.
test_waits_for_nothing() {
	empty_store
	expect 3 durawheel why never
	says 'never: no such timer: it never was, or its end is not kept; .*--keep 7d'
	expect 0 durawheel topic set mail --keep 7d
	expect 3 durawheel why never
	says 'never: .*; ends are kept of the topics mail for 7d, and of timers with --keep'
	expect 0 durawheel add --topic mail --id a --in 1h
	expect 0 durawheel cancel a
	expect 3 durawheel why a
	grep -qx 'cancelled  *2.* ago: claims: 0, retries: 0, by .*' out
	grep -qx 'waits for  *nothing: it has ended' out
	expect 0 durawheel add --topic mail --id d --in 0s
	expect 0 durawheel run --until-idle --exec 'echo card >&2; exit 100'
	expect 3 durawheel why d
	grep -qx 'dead  *2.* ago: GAVE_UP, claims: 1, retries: 0, by .*' out
	grep -qx 'last said  *exit status 100: card' out
	grep -qx 'command  *durawheel dead requeue d' out
	expect 3 durawheel why --json d
	grep -q '"state":"dead","history":\[{"what":"was due"' out
	expect 2 durawheel why
	expect 2 durawheel why ''
}

# A timer of a queue becomes a message, of which the store knows only with the others.
test_waits_for_a_worker_of_its_queue() {
	expect 0 durawheel topic set jobs --queue --keep 1d
	expect 0 durawheel add --topic jobs --id j --in 0s
	start --topic other --exec true
	await is_message j
	tells j message 'work --topic=jobs --exec CMD'
	grep -q '^waits for .*: of its messages 1 wait, 0 are taken, and 0 come back later' out
	stop_owner
	expect 0 durawheel take --topic jobs
	tells j message 'work --topic=jobs --exec CMD'
	grep -q '^waits for .*: of its messages 0 wait, 1 are taken' out
}

is_message() {
	durawheel why --json "$1" | grep -q '"waits":"message"'
}

# Of a message nothing is known by its id: why and show say where to look.
test_waits_says_where_messages_are() {
	expect 0 durawheel topic set jobs --queue
	expect 0 durawheel topic set 'a queue' --queue
	for command in why show; do
		expect 3 durawheel $command p
		lacks message err
	done
	expect 0 durawheel push --topic jobs --id p
	expect 0 durawheel push --topic jobs --id p
	for command in why show; do
		expect 3 durawheel $command p
		says 'p: no such timer: .*; or it is a message, .*: the queue jobs has 2; '
		says 'durawheel topic show jobs counts them$'
		expect 3 durawheel $command jobs/7/1
		says 'jobs/7/1: that is the token of a message, .*: durawheel ack jobs/7/1 '
		expect 3 durawheel $command jobs/7
		says 'jobs/7: no such timer'
		expect 3 durawheel $command mail/7/1
		says 'mail/7/1: no such timer'
	done
	expect 0 durawheel topic set mail --keep 1d
	expect 0 durawheel take --topic jobs
	expect 0 durawheel push --topic 'a queue'
	expect 3 durawheel show p
	says "topics mail for 1d, .*: the queue a queue has 1, jobs has 2; .* topic show 'a queue' "
}

# The owner does not know the zone, and the one who asks does.
test_waits_for_a_zone() {
	mkdir zones none
	cp /usr/share/zoneinfo/UTC zones/Mine
	TZDIR=$PWD/zones expect 0 durawheel add --topic mail --id a --every 1s --zone Mine
	TZDIR=$PWD/none start --topic mail --exec true
	all_say mail a zone 'the owner does not know the time zone of its rule'
	await has_topic_of_zone
	TZDIR=$PWD/none shows a zone
	tells a zone doctor
	cp zones/Mine none
	stop_owner
}

has_topic_of_zone() {
	durawheel stats --json | grep -qF '"waits":[0,0,0,0,0,0,0,0,1]'
}

# A queue that is full, and refuses more.
test_waits_for_room_in_a_queue() {
	expect 0 durawheel topic set jobs --queue --max 1 --overflow refuse
	for id in a b; do
		expect 0 durawheel add --topic jobs --id $id --in 0s
	done
	start --topic other --exec true
	all_say jobs b queue 'the queue is full'
	tells b queue 'work --topic=jobs --exec CMD'
	stop_owner
}

# waits_as WORD: with a timer that is made anew until its reason is the word; the others pass.
waits_as() {
	local id=0
	until shows "x$id" "$1" && durawheel why "x$id" >out 2>err; do
		id=$((id + 1))
		expect 0 durawheel add --topic mail --id x$id --in 0s
	done
}

# An owner that does nothing: what it has not read, or has told nothing of.
test_waits_for_an_owner_that_stands_still() {
	local ahead=$build/tests/libclock_ahead.so
	expect 0 durawheel add --topic mail --id later --in 1h
	start --exec "$stays"
	await has_pending mail
	kill -STOP "$owner"
	waits_as turn
	grep -q '^command  *durawheel topic show mail$' out
	expect 0 durawheel add --topic new --id n --in 0s
	tells n loads stats
	if ldd "$build/durawheel" | grep -qE 'lib[at]san' || [ ! -e "$ahead" ]; then
		echo 'NOT TESTED: nothing can be preloaded'
	else
		export DW_CLOCK_AHEAD_S=3600
		LD_PRELOAD=$ahead tells n silent stats
	fi
	kill -CONT "$owner"
	touch go
	await lacks_timer n
	stop_owner
}

has_pending() {
	durawheel topic show "$1" | grep -q '^pending  *[1-9]'
}

lacks_timer() {
	! durawheel why "$1"
}

# What an owner has claimed, before it tells that it runs.
test_waits_for_a_timer_that_was_claimed() {
	expect 0 durawheel add --topic mail --id later --in 1h
	start --exec 'exec sleep 0.5'
	await has_pending mail
	waits_as claimed
	grep -q '^waits for  *its owner has claimed it' out
	stop_owner
}

# The server closes the connection on the message of a timer.
test_waits_for_a_larger_limit_of_redis() {
	on_redis
	text 1048576 >data
	expect 0 durawheel topic set jobs --queue
	expect 0 durawheel add --topic jobs --id large --in 1s --data-file data
	redis CONFIG SET client-query-buffer-limit 1mb
	redis CONFIG SET proto-max-bulk-len 1mb
	start --topic other --exec true
	all_say jobs large size 'the server closes the connection on a message of its size'
	tells large size doctor
	stop_owner
	redis_stop
}

test_waits_in_redis() {
	# shellcheck source=tests/support/redis_server.sh
	. "$here/../support/redis_server.sh"
	redis_start "$PWD"
	export DURAWHEEL_STORE=redis://127.0.0.1:$redis_port
	of_exec
	of_file
	redis_stop
}

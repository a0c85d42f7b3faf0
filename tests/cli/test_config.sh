# run --config: a command for each topic, SIGHUP; and --stop-patience.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

# config LINE...: the file run.conf.
config() {
	printf '%s\n' "$@" >run.conf
}

# due_now TOPIC ID...: timers that are due.
due_now() {
	local id topic=$1
	shift
	for id in "$@"; do
		expect 0 durawheel add --topic "$topic" --id "$id" --in 0s
	done
}

# reload: the owner reads run.conf again.
reload() {
	kill -HUP "$owner"
}

# logs PATTERN: the owner does, at some time.
logs() {
	await grep -qe "$1" log
}

# program_is NAME LINE...: an executable file.
program_is() {
	local name=$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"$name"
	chmod +x "$name"
}

# ---- Commands --------------------------------------------------------------------------------

# Each waits until all three run.
test_config_topics_have_commands_at_once() {
	for name in one two three; do
		program_is $name "echo \"\$DW_ID \$*\" >$name.ran" \
			'until [ -e one.ran ] && [ -e two.ran ] && [ -e three.ran ]; do' \
			'sleep 0.05; done'
	done
	config '[topic 1]' "exec = $PWD/one first" '[topic 2]' "exec = $PWD/two second" \
		'[topic *]' "exec = $PWD/three third" '[topic l]' 'line = yes'
	due_now 1 a
	due_now 2 b
	due_now 3 c
	due_now l d
	expect 0 durawheel run --config run.conf --until-idle
	[ "$(cat one.ran two.ran three.ran)" = 'a first
b second
c third' ] || fail "$(cat ./*.ran)"
	is_counted out 4
	! grep '"id":"d"' out | grep exit || fail 'a line has an exit code'
	[ "$(grep -c '"exit":0}' out)" = 3 ]
}

# The command writes how many of its kind run.
test_config_jobs_are_per_topic() {
	program_is counted 'mkdir -p $DW_TOPIC; touch $DW_TOPIC/$DW_ID' \
		'ls $DW_TOPIC | wc -l >>$DW_TOPIC.most' 'sleep 0.3; rm $DW_TOPIC/$DW_ID'
	config '[topic one]' "exec = $PWD/counted" 'jobs = 1' \
		'[topic three]' "exec = $PWD/counted" 'jobs = 3'
	due_now one a b c
	due_now three d e f g h i j
	expect 0 durawheel run --config run.conf --until-idle
	[ "$(sort -n one.most | tail -n 1)" = 1 ]
	[ "$(sort -n three.most | tail -n 1)" = 3 ]
	is_counted out 10
	[ "$(grep -o '"id":"[abc]"' out | tr -d '\n')" = '"id":"a""id":"b""id":"c"' ] # in order
}

test_config_words_need_no_shell() {
	program_is words 'for word; do echo "<$word>"; done >words.ran'
	config '[topic a]' \
		"exec = $PWD/words a;b ; \$HOME *  'x  \"y' \"it's \\\"z\\\"\" q\\ r \\d '' # e"
	due_now a a
	expect 0 durawheel run --config run.conf --until-idle
	printf '<%s>\n' 'a;b' ';' '$HOME' '*' 'x  "y' "it's \"z\"" 'q r' '\d' '' '#' 'e' >wanted
	diff wanted words.ran
	config '[topic a]' 'shell = yes' 'exec = echo "$DW_ID; $DW_TOPIC" >shell.ran; exit 100'
	due_now a b
	expect 0 durawheel run --config run.conf --until-idle
	[ "$(cat shell.ran)" = 'b; a' ]
	expect 0 durawheel dead list
	grep -q GAVE_UP out
	config '[topic a]' 'shell = yes' 'exec = exec no-such-program-anywhere'
	due_now a c
	durawheel run --config run.conf >out 2>log &
	owner=$!
	logs 'c: the command exits with 127'
	stop_owner
}

test_config_topics_have_time_limits_and_batches() {
	config '[topic long]' 'exec = sleep 600' 'timeout = 200ms' \
		'[topic many]' 'exec = wc -l' 'batch = 3' 'wait = 1s' 'exec_output = stdout'
	due_now long a
	due_now many b c d
	durawheel run --config run.conf >out 2>log &
	owner=$!
	logs 'a: the command took longer than'
	await grep -qx '3' out
	stop_owner
}

# What waits for a command of its topic is due, and late until its command starts.
test_config_waiting_timers_are_due_and_late() {
	program_is one_by_one 'touch began; until [ -e go ]; do sleep 0.05; done'
	config '[topic a]' "exec = $PWD/one_by_one" 'jobs = 1'
	expect 0 durawheel topic set a --keep 1h
	due_now a 1 2 3
	start --config run.conf
	await test -e began
	await has_topic_numbers a '"pending":0,"due":2,"running":1,.*"oldest":1.*"started":1,'
	sleep 1
	touch go
	await has_topic_numbers a '"due":0,"running":0,"done":3,.*"oldest":0,.*"started":3,'
	has_topic_numbers a '"late_max_us":[0-9]\{7\}.*"took_max_us":[0-9]\{7\}'
	expect 3 durawheel show 3
	grep -q 'attempt 1, [1-9][0-9]*s.* late' out || fail "$(cat out)"
	stop_owner
	python3 - <<'EOF'
import json
for line in open("fired"):
    timer = json.loads(line)
    if timer["id"] == "3" and timer["fired"] - timer["due"] < 1000000:
        raise SystemExit("fired is not when the command started: " + line)
EOF
}

# Without a file, too: the handle is paused while its commands run.
test_exec_waiting_timers_are_due() {
	program_is one_by_one 'touch began; until [ -e go ]; do sleep 0.05; done'
	due_now a 1
	start --exec "$PWD/one_by_one" --jobs 1
	await test -e began
	due_now a 2 3
	await has_topic_numbers a '"pending":0,"due":2,"running":1,.*"oldest":1'
	touch go
	await has_topic_numbers a '"due":0,"running":0,"done":3,'
	stop_owner
}

# A topic with thousands of due timers and one slow command does not hold up the others.
test_config_a_slow_topic_holds_up_no_other() {
	config '[topic t]' 'exec = sleep 0.5' 'jobs = 1' '[topic fast]' 'exec = true' '[topic *]' \
		'line = yes'
	many 1200 >some
	expect 0 durawheel import some
	start --config run.conf
	await is_full
	for i in 1 2 3; do
		due_now fast f$i
		due_now known k$i
		due_now new$i n$i
	done
	for i in 1 2 3; do
		await grep -q "\"f$i\".*\"exit\":0" fired
		await grep -q "\"k$i\"" fired
		await grep -q "\"n$i\"" fired
	done
	[ "$(grep -c '"topic":"t"' fired)" -lt 1000 ]
	! grep -q 'no handler' log || fail "$(grep 'no handler' log)"
	sed -i 's/^exec = sleep 0.5$/exec = true/; s/^jobs = 1/jobs = 50/' run.conf
	reload
	await has_fired 1200
	stop_owner
	[ "$(grep '"topic":"t"' fired | cut -d , -f 1 | sort -u | wc -l)" = 1200 ]
}

# has_fired N: so many of topic t.
has_fired() {
	[ "$(grep -c '"topic":"t"' fired)" = "$1" ]
}

# is_full: so much waits that the rest waits in the store.
is_full() {
	durawheel topic list --json | grep '"topic":"t"' | grep -q '"due":1[0-9][0-9][0-9]'
}

# ---- The process -----------------------------------------------------------------------------

test_config_has_options_of_run() {
	config '[run]' "store = sqlite:$PWD/other.db" 'until_idle = yes' '[topic *]' 'line = yes'
	expect 0 durawheel add --store "sqlite:$PWD/other.db" --topic t --id a --in 0s
	due_now t b
	expect 0 durawheel run --config run.conf
	grep -q '"id":"a"' out
	is_counted out 1
	expect 0 durawheel run --config run.conf --store "$DURAWHEEL_STORE"
	grep -q '"id":"b"' out
	is_counted out 1
}

# ---- SIGHUP ----------------------------------------------------------------------------------

# A running command ends under the old settings, and the next one has the new.
test_config_hangup_reads_it_again() {
	program_is old 'echo old $DW_ID >>ran; touch began' 'until [ -e go ]; do sleep 0.05; done'
	program_is new 'echo new $DW_ID >>ran'
	config '[topic a]' "exec = $PWD/old" 'jobs = 1' '[topic gone]' 'exec = true'
	due_now a 1 2
	start --config run.conf
	await test -e began
	config '[topic a]' "exec = $PWD/new" 'jobs = 1' '[topic added]' "exec = $PWD/new"
	reload
	logs 'run.conf: read again, 2 topics'
	due_now gone 3
	due_now added 4
	await grep -qx 'new 4' ran
	logs 'no handler for topic gone'
	[ "$(grep -v 4 ran)" = 'old 1' ] # jobs counts the old one
	touch go
	await grep -qx 'new 2' ran
	await grep -q '"id":"1".*"exit":0' fired
	! grep -q '"id":"3"' fired || fail 'a topic that has left the file is handled'
	config '[topic gone]' "exec = $PWD/new"
	reload
	await grep -qx 'new 3' ran
	stop_owner
}

# What was kept ready for a topic that has left the file goes back to the store.
test_config_hangup_gives_back_what_waits() {
	program_is old 'touch began; until [ -e go ]; do sleep 0.05; done'
	program_is new 'echo new $DW_ID $DW_ATTEMPT >>ran'
	config '[topic a]' "exec = $PWD/old" 'jobs = 1' '[topic b]' 'exec = true'
	due_now a 1 2
	start --config run.conf
	await test -e began
	await has_topic_numbers a '"due":1,"running":1'
	config '[topic b]' 'exec = true'
	reload
	logs 'read again'
	await has_topic_numbers a '"due":1,"running":1'
	touch go
	await grep -q '"id":"1".*"exit":0' fired
	config '[topic a]' "exec = $PWD/new"
	reload
	await grep -qx 'new 2 [2-9]' ran
	stop_owner
	! grep -q 'is delivered and not settled' log || fail "$(cat log)"
}

# has_topic_numbers TOPIC PATTERN: what topic list says of it.
has_topic_numbers() {
	durawheel topic list --json | grep "\"topic\":\"$1\"" | grep -q "$2"
}

test_config_hangup_changes_batches_and_lines() {
	program_is say 'echo "$DW_COUNT/$DW_ID" >>ran'
	config '[topic a]' "exec = $PWD/say" 'batch = 5'
	start --config run.conf
	due_now a 1
	await grep -qx '1/' ran
	config '[topic a]' "exec = $PWD/say"
	reload
	logs 'read again'
	due_now a 2
	await grep -qx '/2' ran
	config '[topic a]' 'line = yes'
	reload
	await has_log 2 'read again'
	due_now a 3
	await grep -q '^{"id":"3".*"data":""}$' fired
	config '[topic a]' "exec = $PWD/say" 'batch = 2'
	reload
	await has_log 3 'read again'
	due_now a 4
	await has_exactly 2 '1/' ran
	stop_owner
}

# has_exactly N LINE FILE: so many lines are this one.
has_exactly() {
	[ "$(grep -cxF "$2" "$3")" = "$1" ]
}

test_config_hangup_with_a_fault_changes_nothing() {
	config '[topic a]' 'shell = yes' 'exec = echo first $DW_ID >>ran'
	start --config run.conf
	config '[topic a]' 'exec = true' 'jbos = 3' '[topic b]'
	for round in 1 2; do
		reload
		await has_log $round 'error durawheel: run.conf:3: no key jbos'
		await has_log $round 'error durawheel: run.conf:4: \[topic b\]: write exec'
		await has_log $round 'error durawheel: run.conf is not used'
	done
	rm run.conf
	reload
	logs 'error durawheel: run.conf: cannot read it: No such file'
	due_now a 1
	await grep -qx 'first 1' ran
	stop_owner
}

# has_log N PATTERN: N lines of the log.
has_log() {
	[ "$(grep -c "$2" log)" = "$1" ]
}

test_config_hangup_says_what_needs_a_restart() {
	config '[run]' 'stop_patience = 3s' '[topic a]' 'exec = true'
	start --config run.conf
	config '[run]' 'stop_patience = 4s' 'http = 127.0.0.1:1' 'standby = yes' \
		'[topic a]' 'exec = true'
	reload
	logs 'run.conf: read again, 1 topic$'
	grep -q 'run.conf: stop_patience takes effect after a restart' log
	grep -q 'run.conf: http takes effect after a restart' log
	grep -q 'run.conf: standby takes effect after a restart' log
	[ "$(grep -c restart log)" = 3 ]
	stop_owner
}

# A terminal that closes sends it: what runs may end.
test_config_hangup_without_a_file_stops_run() {
	program_is slow 'touch began; until [ -e go ]; do sleep 0.05; done'
	due_now a 1
	start --exec "$PWD/slow"
	await test -e began
	kill -HUP "$owner"
	logs 'SIGHUP: stopping; with --config FILE it would read the file again$'
	logs 'stopping: waiting for 1 running'
	touch go
	ended 0
	grep -q '"id":"1".*"exit":0' fired
}

test_config_hangup_is_ignored_under_nohup() {
	trap '' HUP
	start
	kill -HUP "$owner"
	due_now a 1
	await grep -q '"id":"1"' fired
	! grep -q SIGHUP log || fail "$(cat log)"
	stop_owner
}

test_config_hangup_is_told_to_the_service_manager() {
	config '[topic a]' 'exec = true'
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched run --config run.conf
	hears '^READY=1 STATUS='
	reload
	hears '^RELOADING=1 MONOTONIC_USEC=[0-9]'
	hears '^READY=1$'
	grep -A 1 RELOADING heard | grep -qx 'READY=1'
	kill -TERM "$owner"
	ended 0
	kill "$manager"
}

# ---- Stopping --------------------------------------------------------------------------------

test_config_stop_patience_is_kept() {
	program_is stubborn 'touch began; sleep 600'
	config '[run]' 'stop_patience = 2s' '[topic a]' "exec = $PWD/stubborn"
	due_now a 1
	start --config run.conf
	await test -e began
	before=$(date +%s%N)
	kill -TERM "$owner"
	ended 0
	took=$((($(date +%s%N) - before) / 1000000))
	[ $took -ge 2000 ] || fail "after $took ms"
	grep -q 'stopping: waiting for 1 running, at most 2s' log
	sed -i 's/2s$/10m/' run.conf
	rm began
	start --config run.conf --stop-patience 0
	await test -e began
	before=$SECONDS
	kill -TERM "$owner"
	ended 0
	[ $((SECONDS - before)) -lt 300 ]
	grep -q 'ending 1 running' log
	expect 2 durawheel run --stop-patience 601s
	says '^durawheel: --stop-patience 601s: write at most 10m$'
	expect 2 durawheel run --stop-patience soon
	says '^durawheel: --stop-patience "soon" '
}

# waits_for_pause TOPIC: the owner knows of it.
waits_for_pause() {
	durawheel topic show "$1" --json | grep -q '"waits":"paused"'
}

# What waits for the one job of its topic does not start in a pause.
test_config_paused_topic_starts_nothing_that_waits_for_its_job() {
	program_is slow 'echo $DW_ID >>ran; until [ -e go ]; do sleep 0.05; done'
	config '[topic one]' "exec = $PWD/slow" 'jobs = 1'
	due_now one a b c
	durawheel run --config run.conf >out 2>log &
	owner=$!
	await is_counted ran 1
	expect 0 durawheel topic pause one
	await waits_for_pause one
	touch go
	await has_count settled 1
	sleep 1
	is_counted ran 1
	expect 0 durawheel topic resume one
	await is_counted ran 3
	await has_count pending 0
	stop_owner
	[ "$(sort -u ran | tr -d '\n')" = abc ]
}

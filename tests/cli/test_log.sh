# How run writes its log: --log. The helpers are in test_config.sh.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

test_log_text_begins_with_time_and_level() {
	due_now t a
	expect 0 durawheel run --until-idle --exec 'exit 100'
	stamp='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z'
	! grep -Ev "^$stamp (info|warn|error) durawheel: " err || fail 'a line without'
	grep -qE "^$stamp info durawheel: running, 1 timer loaded$" err
	grep -qE "^$stamp warn durawheel: a: the command exits with 100 \(attempt 1\)$" err
	[ "$(date -u +%Y-%m-%dT%H)" = "$(head -c 13 err)" ] || sleep 1 # the hour may have changed
	expect 2 durawheel run --log xml
	says '^durawheel: --log "xml": write text, json or journal$'
}

test_log_json_has_a_line_each() {
	due_now t 'a"b\c'
	expect 0 durawheel run --until-idle --log json --exec 'exit 100'
	python3 - <<'EOF'
import json, re
lines = [json.loads(line) for line in open("err")]
assert lines, "nothing"
for line in lines:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]), line
    assert line["level"] in ("info", "warn", "error"), line
assert any(line["message"] == "running, 1 timer loaded" and line["level"] == "info"
           for line in lines), lines
assert any(line["message"] == 'a"b\\c: the command exits with 100 (attempt 1)' and
           line["level"] == "warn" for line in lines), lines
EOF
}

test_log_is_for_the_journal_if_it_is_stderr() {
	: >log
	stream=$(stat -c %d:%i log)
	JOURNAL_STREAM=$stream durawheel run --until-idle 2>log
	grep -qx '<6>running, 0 timers loaded' log
	! grep -v '^<[346]>' log || fail 'a line without a level'
	JOURNAL_STREAM=1:1 durawheel run --until-idle 2>log
	grep -q 'Z info durawheel: running, 0 timers loaded' log
	durawheel run --until-idle --log journal 2>log
	grep -qx '<6>running, 0 timers loaded' log
}

is_dead() {
	durawheel dead list --json | grep -q "\"id\":\"$1\""
}

# The pipe of the log is full, and nobody reads it.
test_log_that_nobody_reads_holds_up_no_timer() {
	mkfifo pipe
	exec 3<>pipe
	head -c 65536 /dev/zero >&3
	durawheel run --http 127.0.0.1:0 --exec 'exit 100' 2>&3 >/dev/null &
	owner=$!
	for id in a b; do
		due_now t $id
		await is_dead $id
	done
	head -c 65536 <&3 >/dev/null
	due_now t c
	await is_dead c
	stop_owner
	timeout 1 cat <&3 >log || true # the pipe has a writer, so cat waits at its end
	exec 3>&-
	grep -qE 'Z warn durawheel: [0-9]+ messages were lost: nobody read this log$' log
	grep -q 'c is dead: GAVE_UP' log
}

# A warning that comes again and again is written once in 10 s.
test_log_leaves_repetitions_out() {
	due_now t a
	due_now u b
	start --topic none
	await has_log 2 'no handler for topic'
	expect 0 durawheel cancel a
	due_now t a
	expect 0 durawheel cancel a
	due_now t a
	sleep 0.5
	has_log 2 'no handler for topic'
	sleep 10
	expect 0 durawheel cancel a
	due_now t a
	logs 'warn durawheel: no handler for topic t: its timers wait (and 2 times before)$'
	stop_owner
}

# No line of the log has data or a password.
test_log_has_no_data_and_no_password() {
	expect 0 durawheel add --topic t --id a --data secret-of-ada --in 0s
	config '[run]' 'store = redis://:secret-word@127.0.0.1:1' '[topic t]' 'exec = false'
	for form in text json journal; do
		expect 6 timeout 60 durawheel run --config run.conf --log $form
		[ -s err ]
		! grep -q secret err || fail "$(cat err)"
		: >log # the words of the last one are not this one's
		durawheel run --log $form --exec 'exit 3' >out 2>log &
		owner=$!
		await grep -q 'the command exits with 3' log
		stop_owner
		! grep -q secret log || fail "$(cat log)"
	done
	config '[run]' 'store = redis://:secret-word@127.0.0.1:1' 'lease = redis://:secret-word@h' \
		'redis://:secret-word@h = 3' 'shards = //x:secret-word@y' '[topic t]' 'exec = false'
	expect 2 durawheel run --config run.conf --check
	! grep -q secret err || fail "$(cat err)"
	config '[topic t]' 'exec = true'
	start --config run.conf
	config '[run]' 'store = redis://:secret-word@127.0.0.1:1' '[topic t]' 'exec = true'
	reload
	logs 'store takes effect after a restart'
	! grep -q secret log || fail "$(cat log)"
	stop_owner
}

test_log_of_serve_has_a_form() {
	if ! durawheel serve --help | grep -q -- --http; then
		return # built without
	fi
	due_now t a
	for form in text json journal; do
		: >log # the words of the last one are not this one's
		durawheel serve --http "unix:$PWD/http" --log $form 2>log &
		owner=$!
		await grep -q 'serving unix:' log
		stop_owner
		cat log >>forms
	done
	sed -i 's/[0-9]*-[0-9]*-[0-9]*T[0-9:.]*Z/T/' forms
	grep -qx "T info durawheel: serving unix:$PWD/http" forms
	grep -qxF "{\"time\":\"T\",\"level\":\"info\",\"message\":\"serving unix:$PWD/http\"}" forms
	grep -qx "<6>serving unix:$PWD/http" forms
}

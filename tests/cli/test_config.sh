# run --config: its faults, a command for each topic, SIGHUP; and --stop-patience.
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

# faulty LINE PATTERN LINE...: the file of these lines is refused for this line, and only for it.
faulty() {
	local line=$1 pattern=$2
	shift 2
	config "$@"
	expect 2 durawheel run --config run.conf --check
	says "^durawheel: run.conf:$line: $pattern"
	is_counted err 1
	[ ! -s out ]
}

# ---- Faults ----------------------------------------------------------------------------------

test_config_check_says_ok() {
	config '# a comment' '; another one' '' '[run]' 'standby = no' 'stop_patience = 3s' '' \
		'[topic a.b]' 'exec = /bin/true' '  jobs=8' 'timeout = 1m' 'exec_output = stdout' \
		'[topic mail]' 'exec = cat' 'batch = 10' 'wait = 5s' '[topic *]' 'line = yes'
	expect 0 durawheel run --config run.conf --check
	prints 'run.conf: ok, 3 topics'
	[ ! -e timers.db ] # nothing was opened
	printf '\357\273\277[topic a]\r\nexec = true\r\n' >run.conf
	expect 0 durawheel run --config run.conf --check
	prints 'run.conf: ok, 1 topic'
	config "[topic $(text 63)]" "exec = true $(text 4000)"
	expect 0 durawheel run --config run.conf --check
}

test_config_names_the_line_of_each_fault() {
	local ok='exec = true'
	faulty 1 'a stands in no section: write \[run\]' 'a = 1' '[topic a]' "$ok"
	faulty 1 'no section \[Topic a\]: write \[topic NAME\] or \[run\]' '[Topic a]' "$ok"
	faulty 1 'no section \[topic\]: write' '[topic]' "$ok"
	faulty 1 'no section \[topic\]: write' '[topic  ]' "$ok"
	faulty 1 '\[topic xx*\]: write a name of 1 to 63 bytes' "[topic $(text 64)]" "$ok"
	faulty 1 '\[topic a\\x07\]: write UTF-8 without control' "$(printf '[topic a\007]')" "$ok"
	faulty 1 'a section ends with \]' '[topic a' "$ok"
	faulty 3 'a section ends with \].*a comment has a line of its own' '[topic b]' "$ok" \
		'[topic a] ; why' "$ok"
	faulty 3 '\[topic a\] is given twice' '[topic a]' "$ok" '[topic a]' "$ok"
	faulty 3 '\[run\] is given twice: it begins in line 1, too' '[run]' 'lease = 5s' '[run]' \
		'lease = 6s' '[topic a]' "$ok"
	faulty 3 'write KEY = VALUE' '[topic a]' "$ok" 'jobs'
	faulty 3 'no key jbos; did you mean jobs?' '[topic a]' "$ok" 'jbos = 3'
	faulty 3 'no key quite-other in a topic; see man durawheel.conf' '[topic a]' "$ok" \
		'quite-other = 1'
	faulty 2 'no key jobs' '[run]' 'jobs = 3' '[topic a]' "$ok"
	faulty 4 'jobs is given twice: it stands in line 3, too' '[topic a]' "$ok" 'jobs = 1' \
		'jobs = 2'
	faulty 3 'jobs has no value' '[topic a]' "$ok" 'jobs ='
	faulty 3 'jobs "0": write a whole number of at least 1' '[topic a]' "$ok" 'jobs = 0'
	faulty 3 'jobs 1025: write at most 1024' '[topic a]' "$ok" 'jobs = 1025'
	faulty 3 'jobs "3 ; why": write a whole number' '[topic a]' "$ok" 'jobs = 3 ; why'
	faulty 3 'timeout "soon" ' '[topic a]' "$ok" 'timeout = soon'
	faulty 3 'timeout 0 would end every command at once' '[topic a]' "$ok" 'timeout = 0'
	faulty 3 'exec_output "file": write stdout or stderr' '[topic a]' "$ok" 'exec_output = file'
	faulty 3 'batch 1001: write at most 1000' '[topic a]' "$ok" 'batch = 1001'
	faulty 4 'wait 11s: write at most 10s' '[topic a]' "$ok" 'batch = 2' 'wait = 11s'
	faulty 3 'wait is for batch = N' '[topic a]' "$ok" 'wait = 1s'
	faulty 3 'a batch has one topic' '[topic *]' "$ok" 'batch = 3'
	faulty 1 '\[topic a\]: write exec = COMMAND, or line = yes' '[topic a]'
	faulty 2 '\[topic a\]: write exec = COMMAND, or line = yes' '' '[topic a]' 'jobs = 3'
	faulty 3 '\[topic a\] has exec, too: write one of them' '[topic a]' "$ok" 'line = yes'
	faulty 3 'jobs is for exec = COMMAND' '[topic a]' 'line = yes' 'jobs = 3'
	faulty 2 'line "maybe": write yes or no' '[topic a]' 'line = maybe'
	faulty 2 'exec: a quote has no end' '[topic a]' "exec = echo 'a b"
	faulty 2 "exec: write the command to run" '[topic a]' "exec = ''"
	faulty 2 'exec: /nonexistent/x is no program that may be run' '[topic a]' \
		'exec = /nonexistent/x'
	faulty 2 'name "a/b": write 1 to 63 letters' '[run]' 'name = a/b' '[topic a]' "$ok"
	faulty 2 'shards "x": write a whole number' '[run]' 'shards = x' '[topic a]' "$ok"
	faulty 2 'lease 0s: write 1s to 24h' '[run]' 'lease = 0s' '[topic a]' "$ok"
	faulty 2 'outage "wait": write hold or fire' '[run]' 'outage = wait' '[topic a]' "$ok"
	faulty 2 'stop_patience 11m: write at most 10m' '[run]' 'stop_patience = 11m' '[topic a]' \
		"$ok"
	faulty 2 'log "xml": write text, json or journal' '[run]' 'log = xml' '[topic a]' "$ok"
	faulty 2 'exec: no program no-such-program-x in PATH: write its whole path' '[topic a]' \
		'exec = no-such-program-x'
	faulty 2 'exec: /usr is no program that may be run' '[topic a]' 'exec = /usr'
	faulty 2 'standby "maybe": write yes or no' '[run]' 'standby = maybe' '[topic a]' "$ok"
}

# run_faulty LINE PATTERN LINE...: so is this one of [run], by --check and at the start.
run_faulty() {
	local line=$1 pattern=$2
	shift 2
	faulty "$line" "$pattern" '[run]' "$@" '[topic a]' 'exec = true'
	expect 2 timeout 20 durawheel run --config run.conf
	says "^durawheel: run.conf:$line: $pattern"
	is_counted err 1
	[ ! -e timers.db ]
}

test_config_checks_what_run_needs() {
	text 40 >token
	chmod 644 token
	mkfifo -m 600 fifo
	run_faulty 2 'the store "mongodb:\.\.\." is of no known kind; write sqlite:FILE' \
		'store = mongodb://host'
	run_faulty 2 'the store memory: ends with the command' 'store = memory:'
	run_faulty 2 '"sqlite:" needs a file' 'store = sqlite:'
	run_faulty 3 'http host:80: write 127.0.0.1:PORT' '' 'http = host:80'
	run_faulty 2 'http 127.0.0.1:99999: write .* a PORT of at most 65535' \
		'http = 127.0.0.1:99999'
	run_faulty 2 'http 0.0.0.0:80: other machines .* write token_file FILE, too' \
		'http = 0.0.0.0:80'
	run_faulty 2 'http unix:: the path is empty or too long' 'http = unix:'
	run_faulty 3 'token_file missing: No such file' 'http = 127.0.0.1:0' 'token_file = missing'
	run_faulty 3 'token_file token: others may read it; chmod 600' 'http = 127.0.0.1:0' \
		'token_file = token'
	run_faulty 3 'token_file fifo: this is no file' 'http = 127.0.0.1:0' 'token_file = fifo'
	: >empty
	chmod 600 empty token
	run_faulty 3 'token_file empty: write at least 32 characters' 'http = 127.0.0.1:0' \
		'token_file = empty'
	run_faulty 2 'token_file is for the web server: write http ADDRESS' 'token_file = token'
	run_faulty 2 'allow_host is for the web server' 'allow_host = a.example'
	run_faulty 2 'show_data is for the web server' 'show_data = yes'
	run_faulty 2 'journal is for a store in Redis' 'journal = j.db'
	run_faulty 3 'journal is for a store in Redis' 'store = sqlite:x.db' 'journal = j.db'
	[ ! -e j.db ] && [ ! -e x.db ]
	config '[run]' 'http = 0.0.0.0:0' 'token_file = token' 'allow_host = a.example' \
		'show_data = yes' '[topic a]' 'exec = true'
	expect 0 durawheel run --config run.conf --check
	# An option stands for a value of the file.
	config '[run]' 'token_file = token' '[topic a]' 'exec = true'
	expect 0 durawheel run --config run.conf --check --http 127.0.0.1:0
	expect 2 durawheel run --token-file token
	says '^durawheel: --token-file is for the web server: write --http ADDRESS$'
	expect 2 durawheel run --config run.conf --check --http 127.0.0.1:99999
	says '^durawheel: --http 127.0.0.1:99999: write '
}

test_config_redis_urls_are_checked() {
	run_faulty 2 '.*port' 'store = redis://127.0.0.1:99999'
	run_faulty 2 '.*password-file' 'store = redis://127.0.0.1:1?password-file=/nonexistent'
	config '[run]' 'store = redis://127.0.0.1:1' 'journal = j.db' '[topic a]' 'exec = true'
	expect 0 durawheel run --config run.conf --check # nobody has to be there
	[ ! -e j.db ]
}

# All faults are told at once, and nothing starts.
test_config_names_all_faults() {
	config 'a = 1' '[topic b]' 'jobs = x' '[topic c' '[topic d]' 'exec = true' 'jobs = 0'
	expect 2 durawheel run --config run.conf
	says 'run.conf:1: '
	says 'run.conf:2: '
	says 'run.conf:3: '
	says 'run.conf:4: '
	says 'run.conf:7: '
	is_counted err 5
	[ ! -e timers.db ]
}

test_config_refuses_options_of_one_command() {
	config '[topic a]' 'exec = true'
	for option in '--exec true' '--jobs 3' '--timeout 1s' '--batch 3' '--wait 1s' \
		'--exec-output stdout' '--topic a'; do
		# shellcheck disable=SC2086
		expect 2 durawheel run --config run.conf $option
		says "run: ${option% *} is not for --config FILE"
	done
	expect 2 durawheel run --check
	says 'run: --check is for --config FILE'
	config '[run]' 'log = text'
	expect 2 durawheel run --config run.conf
	says 'run.conf: has no topic'
}

test_config_that_is_hostile_is_refused() {
	mkfifo fifo
	for file in fifo . missing /dev/zero; do
		expect 2 timeout 20 durawheel run --config $file --check
		says "^durawheel: $file: cannot read it: "
	done
	if [ "$(id -u)" != 0 ]; then
		config '[topic a]' 'exec = true'
		chmod 000 run.conf
		expect 2 durawheel run --config run.conf --check
		says 'run.conf: cannot read it: Permission denied'
		rm run.conf
	fi
	(echo '[topic a]' && echo 'exec = true' && text 65536 && echo) >run.conf
	expect 2 durawheel run --config run.conf --check
	says '^durawheel: run.conf:3: is too long: write at most 4095 bytes$'
	printf '[topic a]\nexec = true\njo\0bs = 3\n' >run.conf
	expect 2 durawheel run --config run.conf --check
	says '^durawheel: run.conf:3: has a NUL byte: write text$'
	head -c 1048577 /dev/zero | tr '\0' '\n' >run.conf
	expect 2 durawheel run --config run.conf --check
	says 'run.conf: cannot read it: it has more than 1 MiB'
	printf '[topic a]\nexec = true\n\033[2J = 3\n[topic \033[2J\n' >run.conf
	expect 2 durawheel run --config run.conf --check
	! grep -q "$(printf '\033')" err || fail "a control character is printed"
	: >run.conf
	expect 2 durawheel run --config run.conf --check
	says 'run.conf: has no topic'
}

# A mutated file is read or refused, and never more than that.
test_config_that_is_mutated_harms_nothing() {
	config '[run]' 'store = sqlite:x.db' 'lease = 5s' \
		'[topic a.b]' "exec = echo 'a b' \"c\" \\d" \
		'shell = no' 'jobs = 3' 'timeout = 1m' 'batch = 10' 'wait = 1s' \
		'[topic *]' 'line = yes'
	python3 - "$build/durawheel" "${DW_TEST_SCALE:-100}" "${DW_SEED:-$RANDOM}" <<'EOF'
import os, random, subprocess, sys
program, scale, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("seed", seed)
source = random.Random(seed)
whole = open("run.conf", "rb").read()
pieces = [b"[", b"]", b"=", b"\n", b"\\", b"'", b'"', b";", b"\0", b" ", b"topic",
          b"\xff", b"x" * 5000, b"[topic ", b"exec =", b"line = yes\n"]
for i in range(max(1, 3 * scale)):
    data = bytearray(whole)
    for _ in range(source.randint(1, 6)):
        at = source.randint(0, len(data))
        kind = source.randint(0, 3)
        if kind == 0:
            data[at:at] = source.choice(pieces)
        elif kind == 1:
            del data[at:at + source.randint(1, 20)]
        elif kind == 2 and at < len(data):
            data[at] = source.randint(0, 255)
        else:
            data[at:at] = whole[source.randint(0, len(whole)):][:30]
    with open("mutated.conf", "wb") as file:
        file.write(data)
    done = subprocess.run([program, "run", "--config", "mutated.conf", "--check"],
                          capture_output=True, timeout=60)
    if done.returncode not in (0, 2) or (done.returncode == 2) != bool(done.stderr):
        sys.exit("seed %d, file %d: exit %d: %s" % (seed, i, done.returncode, done.stderr[:300]))
    for line in done.stderr.split(b"\n")[:-1]:
        if not line.startswith(b"durawheel: mutated.conf:") and b"run: " not in line:
            sys.exit("seed %d, file %d: %s" % (seed, i, line))
EOF
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

# A topic with thousands of due timers and one slow command does not hold up the others.
test_config_a_slow_topic_holds_up_no_other() {
	config '[topic t]' 'exec = sleep 0.5' 'jobs = 1' '[topic fast]' 'exec = true' '[topic *]' \
		'line = yes'
	many 1800 >some
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
	await has_fired 1800
	stop_owner
	[ "$(grep '"topic":"t"' fired | cut -d , -f 1 | sort -u | wc -l)" = 1800 ]
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
	await has_topic_numbers a '"running":2'
	config '[topic b]' 'exec = true'
	reload
	await has_topic_numbers a '"running":1'
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
	grep -q 'run.conf: stop-patience takes effect after a restart' log
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
	[ $took -lt 9000 ] || fail "after $took ms"
	grep -q 'stopping: waiting for 1 running, at most 2s' log
	rm began
	start --config run.conf --stop-patience 0
	await test -e began
	before=$(date +%s%N)
	kill -TERM "$owner"
	ended 0
	[ $((($(date +%s%N) - before) / 1000000)) -lt 2000 ]
	grep -q 'ending 1 running' log
	expect 2 durawheel run --stop-patience 601s
	says '^durawheel: --stop-patience 601s: write at most 10m$'
	expect 2 durawheel run --stop-patience soon
	says '^durawheel: --stop-patience "soon" '
}

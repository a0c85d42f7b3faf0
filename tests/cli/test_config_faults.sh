# run --config: its faults, each with its line. config() is in test_config.sh.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

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

test_config_check_says_ok() {
	config '# a comment' '; another one' '' '[run]' 'standby = no' 'stop_patience = 3s' '' \
		'[topic a.b]' 'exec = /bin/true' '  jobs=8' 'timeout = 1m' 'exec_output = stdout' \
		'[topic mail]' 'exec = cat' 'batch = 10' 'wait = 5s' '[topic *]' 'line = yes'
	expect 0 durawheel run --config run.conf --check
	prints "run.conf: ok, 3 topics, store $DURAWHEEL_STORE"
	[ ! -e timers.db ] # nothing was opened
	printf '\357\273\277[topic a]\r\nexec = true\r\n' >run.conf
	expect 0 durawheel run --config run.conf --check
	prints "run.conf: ok, 1 topic, store $DURAWHEEL_STORE"
	config "[topic $(text 63)]" "exec = true $(text 4000)"
	expect 0 durawheel run --config run.conf --check
}

# What looks like a comment is a part of the value: the store would be another one.
test_config_check_warns_of_comments_behind_values() {
	config '[run]' 'store = sqlite:/tmp/a.db # my db' 'standby = no' '[topic a]' \
		'exec = true # of the shell' 'timeout = 1m'
	expect 0 durawheel run --config run.conf --check
	says 'run.conf:2: a comment needs a line of its own: it is part of the value of store$'
	is_counted err 1
	prints 'run.conf: ok, 1 topic, store sqlite:/tmp/a.db # my db'
	config '[run]' $'store = sqlite:/tmp/a.db\t; my db' '[topic a]' 'exec = true'
	expect 0 durawheel run --config run.conf --check
	says 'run.conf:2: a comment needs a line of its own: it is part of the value of store$'
	config '[run]' 'store = redis://:secret@127.0.0.1/0' '[topic a]' 'exec = true'
	expect 0 durawheel run --config run.conf --check
	prints 'run.conf: ok, 1 topic, store redis://*@127.0.0.1/0'
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
	faulty 2 'outage "wait": write hold or fire' '[run]' 'outage = wait' 'journal = j.db' \
		'store = redis://localhost' '[topic a]' "$ok"
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
	run_faulty 2 'outage is for journal FILE$' 'outage = fire'
	run_faulty 3 'journal /: this is no file: write the path of one' 'store = unix:///r.sock' \
		'journal = /'
	run_faulty 3 'store fifo: this is no file' '' 'store = sqlite:fifo'
	for host in http://a a/b me@a 'a b/c' 'a?b'; do
		run_faulty 3 "allow_host \"$host\": write the name in Host" 'http = 127.0.0.1:0' \
			"allow_host = $host"
	done
	config '[run]' 'http = 0.0.0.0:0' 'token_file = token' 'allow_host = a.example b.example' \
		'show_data = yes' '[topic a]' 'exec = true'
	expect 0 durawheel run --config run.conf --check
	# An option stands for a value of the file.
	config '[run]' 'token_file = token' '[topic a]' 'exec = true'
	expect 0 durawheel run --config run.conf --check --http 127.0.0.1:0
	expect 2 durawheel run --token-file token
	says '^durawheel: --token-file is for the web server: write --http ADDRESS$'
	expect 2 durawheel run --allow-host '' --http 127.0.0.1:0
	says '^durawheel: --allow-host "": write the name in Host'
	expect 2 durawheel run --allow-host a/b --allow-host a --http 127.0.0.1:0
	says '^durawheel: --allow-host "a/b": write the name in Host'
	expect 2 durawheel run --config run.conf --check --http 127.0.0.1:99999
	says '^durawheel: --http 127.0.0.1:99999: write '
}

test_config_names_the_line_of_an_address_in_use() {
	config '[run]' '' "http = unix:$PWD/s" '[topic a]' 'exec = true'
	start --config run.conf
	expect 1 timeout 20 durawheel run --config run.conf --store sqlite:other.db
	says "^durawheel: run.conf:3: http unix:.*/s: Address already in use$"
	stop_owner
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
	config '[topic a]' 'exec = true'
	chmod 000 run.conf
	expect 2 "${as_user[@]}" durawheel run --config run.conf --check
	says 'run.conf: cannot read it: Permission denied'
	rm run.conf
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

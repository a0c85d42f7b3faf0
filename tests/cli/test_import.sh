# import.
# shellcheck shell=bash disable=SC2154,SC2034

test_import_counts() {
	many 1000 >lines
	expect 0 durawheel import lines
	prints 'imported 1000, refused 0'
	expect 0 durawheel import --json - <lines
	prints '{"imported":1000,"refused":0}'
	expect 0 durawheel import </dev/null
	prints 'imported 0, refused 0'
	expect 0 durawheel list --json
	is_counted out 1000
}

test_import_takes_every_key() {
	cat >lines <<-'END'
		{"id":"a","topic":"t","at":"2100-01-01T00:00:00Z","data":"\u0000","late_after":"6h"}
		{"topic":"t","in":"1h","data_base64":"/wA="}
	END
	expect 0 durawheel import lines
	expect 0 durawheel show a --json
	grep -qF '"due":4102444800000000,' out
	grep -qF '"data":"\u0000"' out
	expect 0 durawheel show a
	grep -q '^late-after  *6h$' out
	expect 0 durawheel list --json
	is_counted out 2
	grep -qF '"data_base64":"/wA="' out
}

test_import_takes_a_rule_in_keys() {
	{
		printf '%s' '{"id":"c","topic":"t","cron":"0 8 * * mon-fri",' \
			'"zone":"Europe/London","from":"2098-01-01T00:00:00Z",' \
			'"until":"2099-01-01T00:00:00Z","times":7,' \
			'"jitter":"1.5min","missed":"skip","missed_after":"5m","missed_age":"2h",'
		echo '"except":"2098-12-25,2098-12-28"}'
		echo '{"id":"e","topic":"t","every":"90s","start":"2098-01-01T00:00:00Z"}'
	} >lines
	expect 0 durawheel import lines
	expect 0 durawheel show c
	cp out imported
	expect 0 durawheel add --topic t --id c --cron '0 8 * * mon-fri' --zone Europe/London \
		--from 2098-01-01T00:00:00Z --until 2099-01-01T00:00:00Z --times 7 --jitter 90s \
		--missed skip --missed-after 5m --missed-age 2h --except 2098-12-25,2098-12-28
	expect 0 durawheel show c
	[ "$(grep ^rule out)" = "$(grep ^rule imported)" ]
	[ "$(grep ^generation out)" = "$(grep ^generation imported)" ]
	expect 0 durawheel show e
	grep -q '^rule  *every 90s; start 2098-01-01T00:00:00.000000Z$' out
	# What list writes of both is taken, too.
	expect 0 durawheel list --json
	cp out listed
	expect 0 durawheel import listed
	prints 'imported 2, refused 0'
}

# refused LINE PATTERN: a good line, this one, a good line.
refused() {
	{
		echo '{"id":"before","topic":"t","in":"1h"}'
		printf '%s\n' "$1"
		echo '{"id":"behind","topic":"t","in":"1h"}'
	} >lines
	expect 1 durawheel import lines
	prints 'imported 2, refused 1'
	is_counted err 1
	says "^durawheel: line 2: .*$2"
}

test_import_names_a_bad_line_and_goes_on() {
	refused 'nonsense' ''
	refused '{"topic":"t","in":"1h"' 'at byte 22$'
	refused '{"topic":"t","in":"1h"} {}' ''
	refused '["t"]' 'not an object'
	refused '5' ''
	refused 'null' ''
	refused '{"in":"1h"}' 'needs a "topic"'
	refused '{"topic":"t"}' 'one of "at", "in", "every", "cron", "rule" and "due"'
	refused '{"topic":"t","in":"1h","at":"2100-01-01T00:00:00Z"}' \
		'one of "at", "in", "every", "cron", "rule" and "due"'
	refused '{"topic":"t","in":"5s5"}' '5s5'
	refused '{"topic":"t","in":"-5s"}' 'not a duration'
	refused '{"topic":"t","in":"106751992d"}' 'is too long: write at most 106751991d$'
	refused '{"topic":"t","at":"2026-02-30T10:00:00Z"}' 'does not exist: '
	refused '{"topic":"t","in":"1h","late_after":"106751992d"}' 'is too long'
	refused '{"topic":"t","in":5}' '"in" is not a string: write'
	refused '{"topic":"t","in":"1h","data":{}}' '"data" is not a string'
	refused '{"topic":"t","in":"1h","data":null}' '"data" is not a string'
	refused '{"topic":"t","at":"2100-02-30T00:00:00"}' 'February 2100 has the days 1 to 28'
	refused '{"topic":"t","at":"tomorrow"}' 'not a time'
	refused '{"topic":"t","in":"1h","when":"1h"}' \
		'unknown key "when": known are topic, id, .*from or start, .*rule, due, .*_zone$'
	refused '{"topic":"t","in":"1h","occurrence":1}' 'has no "rule": '
	refused '{"topic":"t","rule":"every 1h","missed_count":1}' 'need an "occurrence"$'
	refused '{"topic":"t","rule":"every 1h","occurrence":1,"missed_count":-1}' \
		'"missed_count" is not a count$'
	refused '{"topic":"t","rule":"every 1h","occurrence":-1}' '"occurrence" is not after 1970'
	refused '{"topic":"t","rule":"every 1h","occurrence":2,"rule_end":1}' \
		'"rule_end" is before "occurrence"$'
	refused '{"topic":"t","every":"1h","occurrence":1}' 'has "every": .* are for "rule", as'
	refused '{"topic":"t","cron":"@daily","due":1}' 'has "cron": .* are for "rule", as'
	refused '{"topic":"t","in":"1h","in":"2h"}' 'duplicate'
	refused '{"topic":"t","in":"1h","data":"","data_base64":""}' 'both'
	refused '{"topic":"t","in":"1h","data_base64":"a"}' 'base 64'
	refused '{"topic":"t","in":"1h","data_base64":"aa=a"}' 'base 64'
	refused '{"topic":"t","in":"1h","data_base64":"ab=="}' 'base 64'
	refused '{"topic":"t","in":"1h","late_after":"0s"}' 'late_after'
	refused '{"id":"a\u0000b","topic":"t","in":"1h"}' 'NUL'
	refused '{"id":"","topic":"t","in":"1h"}' ''
	refused '{"id":"a\nb","topic":"t","in":"1h"}' ''
	refused $'{"id":"\xff","topic":"t","in":"1h"}' ''
	refused $'{"id":"\e[31m","topic":"t","in":"1h"}' ''
	refused '{"id":"\ud800","topic":"t","in":"1h"}' ''
	refused "$(printf '[%.0s' {1..100000})" ''
	expect 0 durawheel list --json
	is_counted out 2
}

# bad_rule KEYS PATTERN
bad_rule() {
	refused "{\"topic\":\"t\",$1}" "$2"
}

test_import_names_a_bad_rule() {
	bad_rule '"every":"1h","in":"1h"' 'has "every": it needs no "at" and no "in"$'
	bad_rule '"rule":"every 1h","zone":"UTC"' 'has both "rule" and "zone"$'
	bad_rule '"every":"1h","cron":"@daily"' 'has both "every" and "cron": write one of them$'
	bad_rule '"every":"soon"' '"every":"soon" is not a duration'
	bad_rule '"every":"1us"' '"every" is out of range: write 1ms to 3660d$'
	bad_rule '"every":90' '"every" is not a string'
	bad_rule '"cron":"60 * * * *"' '"cron": minute "60" is wrong'
	bad_rule '"cron":"@daily; zone UTC"' "\"cron\" has a ';' in it"
	bad_rule '"cron":"@daily","zone":"Europe/Lundon"' '"zone": .*Lundon: No such file'
	bad_rule '"every":"1h","until":"2020-01-01T00:00:00Z"' '"until" has passed'
	bad_rule '"every":"1h","start":"2099-01-01T00:00:00Z","until":"2098-01-01T00:00:00Z"' \
		'"until" is before "from"$'
	bad_rule '"every":"1h","start":"2099-01-01T00:00:00Z","from":"2099-01-01T00:00:00Z"' \
		'has both "from" and "start": write one of them$'
	bad_rule '"every":"1h","times":0' '"times" "0" is wrong: write 1 to 100000$'
	bad_rule '"every":"1h","times":"5"' '"times" is not a whole number'
	bad_rule '"every":"1h","jitter":"31m"' '"jitter" is out of range: .* half of "every"$'
	bad_rule '"every":"1h","missed":"never"' '"missed" "never" is unknown: write once'
	bad_rule '"every":"1h","missed_after":"0"' \
		'"missed_after" is 0: write a duration, or leave it out$'
	bad_rule '"every":"0"' '"every" is out of range: write 1ms to 3660d$'
	bad_rule '"zone":"UTC"' '"zone" needs "at", "every" or "cron"$'
	bad_rule '"every":"1h","late_after":"1h"' \
		'a recurring timer has no "late_after": use "missed_after" and "missed_age"$'
	bad_rule '"every":"1h","except":"2026-02-29"' '"except": "2026-02-29" is not a date'
	bad_rule '"every":"1h","zone":"U\u0000C"' '"zone" has a NUL in it'
	bad_rule "\"cron\":\"$(head -c 3000 /dev/zero | tr '\0' ' ')\"" 'the rule is too long'
}

test_import_takes_lines_as_they_come() {
	printf '{"id":"a","topic":"t","in":"1h"}\r\n\r\n\n{"id":"b","topic":"t","in":"1h"}' >lines
	expect 0 durawheel import lines
	prints 'imported 2, refused 0'
	{
		cat lines
		printf '\n\0\n{'
	} >other
	expect 1 durawheel import other
	prints 'imported 2, refused 2'
	says '^durawheel: line 5: '
	says '^durawheel: line 6: '
}

test_import_refuses_a_line_that_is_too_long() {
	{
		printf '{"id":"long","topic":"t","in":"1h","data":"%s"}\n' "$(text 3000000)"
		printf '{"id":"large","topic":"t","in":"1h","data":"%s"}\n' "$(text 1048577)"
		printf '{"id":"fits","topic":"t","in":"1h","data":"%s"}\n' "$(text 1048576)"
		text 9000000
	} >lines
	expect 1 durawheel import lines
	prints 'imported 1, refused 3'
	says '^durawheel: line 1: is longer than 2 MiB'
	says '^durawheel: line 2: "data" has 1048577 bytes: at most 1048576$'
	says '^durawheel: line 4: is longer than 2 MiB'
}

test_import_refuses_data_that_is_too_much_in_base64() {
	printf '{"id":"large","topic":"t","in":"1h","data_base64":"%s"}\n' \
		"$(text 1048577 | base64 -w 0)" >lines
	expect 1 durawheel import lines
	says '^durawheel: line 1: "data_base64" has 1048577 bytes: at most 1048576$'
}

test_import_of_what_cannot_be_read_fails() {
	expect 1 durawheel import missing
	says 'cannot open missing: No such file'
	expect 1 durawheel import .
	says 'cannot read line 1: Is a directory'
	code=0
	durawheel import <&- >out 2>err || code=$?
	[ $code = 1 ]
	says 'cannot read line 1'
}

# names N: N lines with ids and topics of many alphabets, and with data of any bytes.
names() {
	awk -v n="$1" 'BEGIN {
		text = "\"data\":\"é\\u0000\\n\""
		bytes = "\"data_base64\":\"/wAB\""
		late = "\"late_after\":\"1h2m3s4ms5us\","
		for (i = 0; i < n; i++) {
			printf "{\"id\":\"ключ \\\" 鍵 %d\",\"topic\":\"тема %d\",", i, i % 7
			printf "\"at\":\"2100-01-01T00:00:%02dZ\",", i % 60
			print (i % 2 ? late : "") (i % 3 ? text : bytes) "}"
		}
	}'
}

test_import_takes_what_list_writes() {
	names 10000 >lines
	expect 0 durawheel import lines
	expect 0 durawheel list --json
	cp out first
	is_counted first 10000
	grep -q '"late_after":"1h2m3s4ms5us","data_base64":"/wAB"}$' first
	DW_STORE=sqlite:copy.db expect 0 durawheel import first
	prints 'imported 10000, refused 0'
	DW_STORE=sqlite:copy.db expect 0 durawheel list --json
	cmp first out
}

test_import_takes_no_line_of_a_newer_version() {
	line='{"id":"a","topic":"t","due":4102444800000000'
	refused "$line"',"state":"newer","attempt":0,"data":""}' 'is of a newer durawheel'
	refused "$line"',"state":"done","attempt":0,"data":""}' 'neither pending nor claimed'
	refused "$line"',"attempt":"0","data":""}' '"attempt" is not a whole number'
	refused '{"id":"a","topic":"t","due":"4102444800000000"}' '"due" is not a whole number'
	refused "$line"',"in":"1h"}' 'one of "at", "in", "every", "cron", "rule" and "due"'
}

test_import_again_changes_nothing() {
	many 3000 >lines
	expect 0 durawheel import lines
	durawheel list --json >first
	expect 0 durawheel import lines
	durawheel list --json >second
	cmp first second
}

test_import_stores_while_the_stream_goes_on() {
	mkfifo stream
	durawheel import stream >out 2>log &
	owner=$!
	exec 3>stream
	echo '{"id":"a","topic":"t","in":"1h"}' >&3
	await durawheel show a
	exec 3>&-
	ended 0
	prints 'imported 1, refused 0'
}

# importing: `durawheel import` of the pipe lines in the background, its counts in the file counts.
importing() {
	mkfifo lines
	env --default-signal=INT,TERM,HUP durawheel import lines >counts 2>log &
	owner=$!
	exec 3>lines
}

test_import_interrupted_says_what_it_did() {
	importing
	many 3 >&3
	await has_count pending 3
	kill -INT "$owner"
	ended 130
	[ "$(cat counts)" = 'imported 3, refused 0' ]
	rm lines
	importing # and the terminal is closed
	many 5 >&3
	await has_count pending 5
	kill -HUP "$owner"
	ended 129
	[ "$(cat counts)" = 'imported 5, refused 0' ]
	grep -qx 'durawheel: interrupted after line 5: import again to add the rest.*' log
}

# Lines are on their way to the store, and more are read.
test_import_interrupted_counts_what_is_stored() {
	importing
	many 200000 >&3 &
	await is_stored 500
	kill -TERM "$owner"
	ended 143
	exec 3>&-
	grep -qx "imported $(durawheel list --json | wc -l), refused 0" counts
}

test_import_killed_is_repeated() {
	many 60000 >lines
	for after in 500 9000; do
		durawheel import lines >out 2>err &
		owner=$!
		await is_stored $after
		kill_owner
	done
	expect 0 durawheel import lines
	prints 'imported 60000, refused 0'
	[ "$(durawheel list --json | wc -l)" = 60000 ]
}

# is_stored N: at least.
is_stored() {
	[ "$(durawheel stats --json | sed 's/.*"pending":\([0-9]*\).*/\1/')" -ge "$1" ]
}

test_import_takes_very_many() {
	many 100000 >lines
	expect 0 durawheel import lines
	prints 'imported 100000, refused 0'
	has_count pending 100000
}

# in_typescript COLUMNS COMMAND: runs it on a terminal. The file seen has what it wrote; a \r
# begins a line there.
in_typescript() {
	local code=0
	script -qec "stty cols $1 -onlcr; $2" typescript </dev/null >/dev/null || code=$?
	grep -v '^Script ' typescript | tr '\r' '\n' >seen
	return $code
}

test_import_shows_on_a_terminal_how_far_it_is() {
	many 60000 >lines
	in_typescript 60 'durawheel import lines >out'
	prints 'imported 60000, refused 0'
	grep -qE '^ [ 0-9][0-9]%  [0-9]+ lines  [0-9]+/s  \[=* *\]$' seen
	[ "$(wc -L <seen)" = 59 ] || fail "$(wc -L <seen) wide"
	[ -z "$(grep . seen | tail -n 1 | tr -d ' ')" ] || fail 'it is not wiped'
	is_counted typescript 3 || fail 'it scrolls' # two lines are of script itself
	in_typescript 25 'cat lines | durawheel import >out'
	grep -qE '^[0-9]+ lines  [0-9]+/s *$' seen
	[ "$(wc -L <seen)" -lt 25 ]
}

test_import_names_bad_lines_beside_the_bar() {
	{
		many 30000
		echo nonsense
		many 30000
	} >lines
	code=0
	in_typescript 60 'durawheel import lines >out' || code=$?
	[ $code = 1 ]
	prints 'imported 60000, refused 1'
	grep . seen | grep -B 1 '^durawheel: line 30001: ' >two
	[ -z "$(head -n 1 two | tr -d ' ')" ] || fail 'it is not wiped'
}

test_import_shows_nothing_when_nobody_looks() {
	many 60000 >lines
	expect 0 durawheel import lines
	[ ! -s err ] || fail 'something is shown'
}

test_import_to_a_store_that_is_away_fails() {
	expect 6 durawheel --store sqlite:/nonexistent/x.db import </dev/null
	is_counted out 0
}

test_import_counts_what_a_full_disk_has_taken() {
	many 20000 >lines
	code=0
	# What a file size limit refuses looks to the store like a disk that is full.
	(
		ulimit -f 600
		timeout "$patience" durawheel import lines >out 2>err
	) || code=$?
	[ $code = 1 ] || [ $code = 6 ] || fail "import exits $code"
	imported=$(sed 's/imported \([0-9]*\),.*/\1/' out)
	[ "$imported" -lt 20000 ]
	[ "$(durawheel list --json | wc -l)" = "$imported" ]
	expect 0 durawheel import lines
	prints 'imported 20000, refused 0'
}

# The words are those of the line, and not the library's for programs.
test_import_says_why_a_rule_never_comes() {
	local from='"from":"2099-01-01T10:00:00Z"' until='"until":"2099-01-02T08:00:00Z"'
	local rule='"topic":"t","rule":"every 1h; end 2099-01-01T00:00:00Z"'
	local start='start 2099-01-01T10:00:00Z'
	refused '{"topic":"t","cron":"0 9 * * *",'"$from,$until}" \
		'it never comes: "until":"2099-01-02T08:00:00Z" is before its first occurrence$'
	refused '{"topic":"t","every":"1h","from":"2020-01-01T00:00:00Z","times":2,'"$until}" \
		'it never comes: all of its "times" have passed$'
	refused '{"topic":"t","every":"1h","from":"9999-12-31T23:59:59Z"}' \
		'it never comes: "every":"1h" has no occurrence$'
	refused '{"topic":"t","rule":"cron 0 9 * * *; '"$start"'; end 2099-01-02T08:00:00Z"}' \
		'"rule": it never comes: end is before its first occurrence$'
	refused '{"topic":"t","rule":"every 1h; start 2020-01-01T00:00:00Z; count 2"}' \
		'"rule": it never comes: all occurrences of its count have passed$'
	refused "{$rule,\"occurrence\":4070908800000001}" \
		'"rule" has no occurrence at "occurrence" or later$'
}

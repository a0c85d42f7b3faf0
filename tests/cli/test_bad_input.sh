# Bad input from outside: damaged files, and what else a shell can do wrong.
# shellcheck shell=bash disable=SC2154,SC2034

# damage TEXT: changes the stored byte behind this text in the file, as a failing disk would.
damage() {
	local at
	[ ! -s timers.db-wal ] || fail 'the log is not in the file yet'
	at=$(LC_ALL=C grep -abo -m 1 -e "$1" timers.db | head -n 1 | cut -d: -f1)
	printf '#' | dd of=timers.db bs=1 seek="$((at + ${#1}))" conv=notrunc status=none
}

test_a_damaged_timer_is_told_and_can_be_cancelled() {
	expect 0 durawheel add --topic t --id sound --at 2020-01-01T00:00:00Z
	expect 0 durawheel add --topic t --id it --at 2020-01-01T00:00:01Z --data 'damage me!'
	expect 0 durawheel add --topic t --id other --at 2020-01-01T00:00:02Z --data 'and me!'
	damage 'damage me'
	damage 'and me'
	expect 1 durawheel show it
	says '^durawheel: it is damaged and does not fire: cancel it or add it again'
	expect 0 durawheel cancel it
	is_counted err 0
	expect 3 durawheel show it
	expect 3 durawheel cancel it
	expect 0 durawheel run --until-idle
	[ "$(ids_of out)" = sound ]
	says '^durawheel: damaged timers, not fired: 1; see durawheel dead list'
	expect 0 durawheel dead list
	grep -q 'other.*CORRUPT' out || fail "$(cat out)"
	expect 0 durawheel add --topic t --id other --at 2020-01-01T00:00:02Z
	expect 0 durawheel run --until-idle
	[ "$(ids_of out)" = other ]
	! grep -q damaged err || fail "$(cat err)"
	expect 0 durawheel list --json
	is_counted out 0
}

# refuses WORDS ARGUMENT...: a usage error that says so, in a line of a bounded length.
refuses() {
	local words=$1
	shift
	expect 2 durawheel "$@"
	says "$words"
	is_counted out 0
	[ "$(wc -c <err)" -le 9000 ] || fail "a message of $(wc -c <err) bytes"
}

test_what_is_no_number_is_refused_wherever_one_is_wanted() {
	empty_store
	for bad in -1 1e99 nan inf 0x10 ' 5' '5 ' 5s5 +5s 5S '5 S' ٥s; do
		refuses 'is not a duration' add --topic t --in "$bad"
		refuses 'is not a duration' add --topic t --in 1h --late-after "$bad"
		refuses 'is not a time' add --topic t --at "$bad"
		refuses --limit list --limit "$bad"
	done
	expect 0 durawheel list --json
	is_counted out 0
}

test_a_value_out_of_range_is_not_called_a_wrong_form() {
	for bad in 106751992d 9223372036854775808us; do
		refuses "\"$bad\" is too long: write at most 106751991d$" add --topic t --in "$bad"
		refuses 'is too long' add --topic t --in 1h --late-after "$bad"
		refuses 'is too long' run --exec true --timeout "$bad"
	done
	for bad in 2026-02-30T10:00:00Z 2026-06-01T24:00:00Z 2026-06-01T09:30:00+24:00; do
		refuses "\"$bad\" does not exist: " add --topic t --at "$bad"
	done
	refuses 'February 2026 has the days 1 to 28' add --topic t --at 2026-02-30T10:00:00
}

test_what_is_no_number_is_a_fine_id() {
	for id in 1e99 nan 0x10 ' 5' 5s5 '*' '{}' '%s%n' "';--"; do
		expect 0 durawheel add --topic t --in 1h --id "$id"
		prints "$id"
		expect 0 durawheel show "$id"
		expect 0 durawheel cancel "$id"
	done
	refuses 'unknown option -1' cancel -1
	expect 3 durawheel cancel -- -1
	says '^durawheel: -1: no such timer'
}

test_a_huge_argument_is_refused_in_few_words() {
	local huge
	huge=$(text 130000) # the most that Linux passes in one
	refuses 'xxx' "$huge"
	refuses 'unknown option' "--$huge"
	refuses 'unknown option' list "--$huge"
	refuses 'is not a duration' add --topic t --in "$huge"
	refuses 'is not a time' add --topic t --at "$huge"
	refuses 'too long' add --topic t --in 1h --id "$huge"
	refuses 'too long' add --topic "$huge" --in 1h
	refuses 'too long' cancel "$huge"
	refuses 'too long' show "$huge"
	refuses --limit list --limit "$huge"
	refuses --name --name "$huge" list
	expect 6 durawheel --store "sqlite:$huge" list
	[ "$(wc -c <err)" -le 9000 ]
}

test_a_zone_of_the_machine_is_a_zone() {
	for path in /nonexistent :/etc/passwd; do
		TZ=$path expect 2 durawheel add --topic t --at '2100-12-01 09:00'
		says "this machine has no zone \"${path#:}\", which TZ names: "
	done
}

test_a_time_with_an_offset_does_not_depend_on_the_zone_of_the_machine() {
	for zone in UTC Europe/Berlin America/New_York; do
		export TZ=$zone
		# In a gap, and twice in autumn: with an offset it is one moment.
		expect 0 durawheel add --topic t --id gap --at 2026-03-29T02:30:00+01:00
		expect 0 durawheel show --json gap
		grep -q '"due":1774747800000000,' out
		expect 0 durawheel add --topic t --id twice --at 2026-10-25T02:30:00+02:00
		expect 0 durawheel show --json twice
		grep -q '"due":1792888200000000,' out
		[ ! -s err ] || fail "a time with an offset needs no words: $(cat err)"
	done
	TZ=Europe/Berlin \
		refuses 'does not exist in Europe/Berlin, .*; write 2026-03-29T03:30:00+02:00' \
		add --topic t --at 2026-03-29T02:30:00
	TZ=Europe/Berlin \
		refuses 'comes twice in Europe/Berlin, .*; write 2026-10-25T02:30:00+02:00 for' \
		add --topic t --at 2026-10-25T02:30:00
	TZ=America/New_York refuses 'does not exist in America/New_York' \
		add --topic t --at 2026-03-08T02:30:00
}

# takes_nothing COMMAND...: exits 1 and says why; the caller's stdout is what takes nothing.
takes_nothing() {
	local code=0
	"$@" 2>err || code=$?
	[ $code = 1 ] || fail "$* exits $code"
	says 'cannot write to stdout'
}

test_a_full_stdout_is_told_by_what_writes_too() {
	takes_nothing durawheel add --topic t --in 1h --id a >/dev/full
	expect 0 durawheel show a # it is stored all the same
	many 3 >some
	takes_nothing durawheel import some >/dev/full
	takes_nothing durawheel import some >&-
	has_count pending 4
	expect 0 durawheel cancel a >/dev/full
}

test_a_reader_that_is_gone_is_told_by_every_command() {
	expect 0 durawheel add --topic t --in 1h --id a
	mkfifo pipe
	for words in 'add --topic t --in 1h' 'show a' 'list' 'stats' 'stats --json' --help; do
		exec 4<>pipe
		exec 5>pipe 4<&-
		# shellcheck disable=SC2086
		takes_nothing durawheel $words >&5
		grep -q 'Broken pipe' err || fail "$words: $(cat err)"
		exec 5>&-
	done
}

test_a_closed_stderr_or_stdin_changes_nothing() {
	empty_store
	code=0
	durawheel nonsense 2>&- || code=$?
	[ $code = 2 ]
	code=0
	durawheel cancel nothing 2>/dev/full || code=$?
	[ $code = 3 ]
	code=0
	durawheel add --topic t --in 1h --data-file - <&- 2>err || code=$?
	[ $code = 1 ] || fail "add exits $code"
	says 'cannot read'
	code=0
	durawheel import <&- 2>err >out || code=$?
	[ $code = 1 ] || fail "import exits $code"
}

# In the background a shell starts everything with SIGINT ignored: env undoes that.
interruptible=(env --default-signal=INT durawheel)

test_list_interrupted_in_mid_write_ends() {
	many 20000 | durawheel import >/dev/null
	mkfifo pipe
	"${interruptible[@]}" list --json >pipe 2>log &
	owner=$!
	exec 3<pipe
	timeout "$patience" head -c 1 <&3 >first # it has begun, and the pipe is full again
	kill -INT "$owner"
	ended 130
	has_count pending 20000
}

test_run_interrupted_in_mid_write_ends_the_line() {
	text 300000 >data
	expect 0 durawheel add --topic t --id a --at 2020-01-01T00:00:00Z --data-file data
	expect 0 durawheel add --topic t --id b --at 2020-01-01T00:00:01Z
	mkfifo pipe
	"${interruptible[@]}" run >pipe 2>log &
	owner=$!
	exec 3<pipe
	timeout "$patience" head -c 1 <&3 >got # the first line is begun
	kill -INT "$owner"
	timeout "$patience" cat <&3 >>got
	ended 0
	is_counted got 1
	[ "$(ids_of got)" = a ]
	expect 0 durawheel run --until-idle
	[ "$(ids_of out)" = b ]
}

test_import_interrupted_keeps_what_it_has_stored() {
	mkfifo pipe
	"${interruptible[@]}" import pipe >out 2>log &
	owner=$!
	exec 4>pipe
	many 5000 >&4
	await has_some_pending
	kill -INT "$owner"
	ended 130
	exec 4>&-
	expect 0 durawheel run --until-idle
	ids_of out | sort -c
	[ "$(ids_of out | sort -u | wc -l)" = "$(wc -l <out)" ]
	[ -s out ]
}

has_some_pending() {
	! has_count pending 0
}

# A control of the direction of text shows what follows backwards: U+061C, U+200E, U+202E, U+2069.
test_names_do_not_turn_the_text() {
	local name id
	name=$(printf 'a\xd8\x9cb\xe2\x80\x8ec\xe2\x80\xaed\xe2\x81\xa9e')
	# The last one is a hyphen.
	id=$(printf 'i\xe2\x80\x8fj\xe2\x80\xaak\xe2\x81\xa6\xe2\x80\x90l')
	expect 0 durawheel topic set "$name" --retries 3
	expect 0 durawheel add --topic "$name" --id "$id" --in 1h
	expect 0 durawheel topic list
	grep -qF 'a\xd8\x9cb\xe2\x80\x8ec\xe2\x80\xaed\xe2\x81\xa9e' out
	for command in list 'topic list' top "show $id"; do
		# shellcheck disable=SC2086
		expect 0 durawheel $command
		! grep -qE $'\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]' out ||
			fail "$command turns the text"
	done
	grep -qF 'i\xe2\x80\x8fj\xe2\x80\xaak\xe2\x81\xa6'$'\xe2\x80\x90l' out
	expect 3 durawheel cancel "$id"x
	says 'i\\xe2\\x80\\x8fj'
	expect 0 durawheel list --json
	[ "$(ids_of out)" = "$id" ]
}

# An id with a colon is no password.
test_bad_input_shows_words_without_passwords() {
	expect 2 durawheel stats order:43
	says 'order:43'
	expect 2 durawheel stats redis://:secret@host
	lacks secret err
	expect 2 durawheel stats user:secret@host
	lacks secret err
}

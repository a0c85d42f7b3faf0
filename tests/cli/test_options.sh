# The words of the command line, the standard streams and the store's URL.
# shellcheck shell=bash disable=SC2154,SC2034,SC2086

test_no_arguments_is_a_usage_error() {
	expect 2 durawheel
	grep -q '^durawheel: ' err
	grep -q 'durawheel cancel ' err
	is_counted out 0
}

# names_of_commands: as the overview has them.
names_of_commands() {
	durawheel --help | sed -n 's/^  durawheel \([a-z]*\) .*/\1/p'
}

# all_commands: as the completion has them, also those of two words.
all_commands() {
	sed -n "s/^\t'\([a-z ]*\)') echo .*/\1/p" "$build/durawheel.bash"
}

# is_a_screen FILE: at most 24 lines of at most 80 characters.
is_a_screen() {
	[ "$(wc -l <"$1")" -le 24 ] || fail "$(wc -l <"$1") lines: $(head -n 1 "$1")"
	[ "$(wc -L <"$1")" -le 80 ] || fail "$(wc -L <"$1") wide: $(head -n 1 "$1")"
}

test_every_command_is_helped() {
	[ "$(names_of_commands | tr '\n' ' ')" = 'add import cancel move show why list run stats '\
'members top serve dead topic push take ack work journal when check doctor purge help ' ]
	expect 2 durawheel help nonsense
	says 'no command nonsense'
	expect 2 durawheel help run list
	# Every option that a help names is one, and it names every one.
	mapfile -t names < <(all_commands | grep -vxE 'dead|journal|topic|help')
	for name in "${names[@]}"; do
		durawheel help $name | grep -v ^Example: | grep -o -e '--[a-z-]*' >options
		while read -r option; do
			expect 2 durawheel $name "$option=1" --name ''
			[[ ! $(<err) =~ unknown|has\ no\ option ]] || fail "$name: $(<err)"
		done <options
		printf '%s\n' --help --version >>options
		options_of "$name" | diff <(sort -u options) - || fail "of $name"
	done
}

# options_of COMMAND: the options that its completion offers.
options_of() {
	bash -c 'source "$1" && _durawheel_options "$2"' bash "$build/durawheel.bash" "$1" |
		tr ' ' '\n' | grep . | sort -u
}

test_a_slip_is_answered_with_what_was_meant() {
	expect 2 durawheel lst
	says 'no command lst; did you mean list?'
	expect 2 durawheel help cancle
	says 'did you mean cancel?'
	expect 2 durawheel nonsense
	says 'no command nonsense; see durawheel --help'
	while read -r slip meant; do
		expect 2 durawheel add "$slip" x
		says "unknown option ${slip%%=*}; did you mean $meant?"
	done <<-'END'
		--topi --topic
		--tpoic=secret --topic
		--Topic --topic
		-topic --topic
		--dat --data
		--data_file --data-file
		--late_after --late-after
		--untill --until
	END
	expect 2 durawheel add --xyz x
	says 'unknown option --xyz; see durawheel add --help'
	expect 2 durawheel add "--$(text 100000)"
	says 'unknown option --xxx*; see durawheel add --help'
	expect 2 durawheel "--$(text 31)c"
	expect 2 durawheel add --= x
	expect 2 durawheel add -
}

# Options of other commands are not meant, even if they are nearer.
test_a_slip_is_answered_with_an_option_of_the_command() {
	expect 2 durawheel run --exce true
	says 'unknown option --exce; did you mean --exec?'
	expect 2 durawheel add --exce true
	says 'unknown option --exce; did you mean --except?'
	expect 2 durawheel --exce true run
	says 'did you mean --exec?'
	expect 2 durawheel list --exce true
	says 'unknown option --exce; see durawheel list --help'
	expect 2 durawheel dead --limt 3 list
	says 'did you mean --limit?'
	expect 2 durawheel dead drop --limt 3
	says 'unknown option --limt; see durawheel dead drop --help'
	expect 2 durawheel list --vesrion
	says 'did you mean --version?'
	expect 2 durawheel --exce # no command: any option
	says 'did you mean --exce[a-z]*?'
}

test_a_name_of_other_programs_is_answered_with_ours() {
	while read -r theirs ours; do
		expect 2 durawheel "$theirs"
		says "no command $theirs; did you mean $ours?"
	done <<-'END'
		rm cancel
		ls list
		get show
		reschedule move
		start run
		version --version
	END
}

test_a_looking_command_makes_no_file() {
	mkdir place
	for words in list 'show a' stats check 'cancel a' 'move a --in 1h' 'dead list' \
		'dead drop a' 'dead requeue a' 'purge --yes'; do
		expect 6 durawheel $words --store sqlite:place/mistyped.db
		says 'no such store: .*mistyped.db'
		[ -z "$(ls -A place)" ] || fail "$words leaves $(ls -A place)"
	done
	touch place/empty.db
	expect 6 durawheel list --store sqlite:place/empty.db
	says 'empty.db: is empty'
	[ "$(ls -A place)" = empty.db ] || fail "there is $(ls -A place)"
}

test_a_looking_command_makes_no_default_folder() {
	unset DURAWHEEL_STORE
	export HOME=$PWD/home
	mkdir home
	expect 6 durawheel list
	says 'no such store: .*timers.db'
	[ -z "$(ls -A home)" ] || fail "it leaves $(ls -A home)"
	expect 0 durawheel add --topic t --in 1h --id a
	expect 0 durawheel show a
}

test_help_and_version_are_printed() {
	expect 0 durawheel --help
	cp out overview
	[ "$(wc -L <overview)" -le 80 ] && [ "$(wc -l <overview)" -le 40 ]
	grep -q 'redis+sentinel://HOST,.../MASTER or redis+cluster://HOST,...,$' overview
	grep -q '^ *with TLS rediss; else DURAWHEEL_STORE' overview
	mapfile -t names < <(all_commands)
	[ ${#names[@]} -gt 30 ]
	for name in "${names[@]}"; do
		# A name may be two words.
		expect 0 durawheel $name --help
		head -n 1 out | grep -q "^durawheel $name"
		grep -q "^Example: durawheel $name" out
		is_a_screen out
		cp out wanted
		expect 0 durawheel --help $name
		cmp out wanted
		expect 0 durawheel help $name
		cmp out wanted
	done
	expect 0 durawheel help
	cmp out overview
	expect 0 durawheel -h
	cmp out overview
	expect 0 durawheel --version
	grep -qE '^durawheel [0-9]+\.[0-9]+\.[0-9]+$' out
	is_counted err 0
}

test_unknown_words_are_usage_errors() {
	empty_store
	expect 2 durawheel nonsense
	says 'nonsense'
	expect 2 durawheel --nonsense=secret list
	says 'unknown option --nonsense;'
	expect 2 durawheel list -x
	says 'unknown option -x'
	expect 2 durawheel -1
	says 'unknown option -1'
	expect 2 durawheel cancel -5
	says 'behind --'
	expect 2 durawheel --
	expect 2 durawheel -- --help
	expect 2 durawheel list too many words
	says 'unexpected argument: too'
	expect 2 durawheel cancel
	says 'cancel: write ids, -, or options like --topic'
	expect 2 durawheel add word
	says 'add: unexpected argument: word; see durawheel add --help$'
	for command in cancel show; do
		expect 2 durawheel "$command" ''
		says 'id "": the id is empty'
	done
}

test_an_abbreviated_option_is_refused() {
	expect 2 durawheel add --topi t --in 1h
	says 'unknown option --topi'
	expect 2 durawheel run --until
}

test_an_option_of_another_command_is_refused() {
	expect 2 durawheel list --id a
	says 'list has no option --id'
	expect 2 durawheel run --json
	expect 2 durawheel add --topic t --in 1h --limit 3
}

test_a_value_that_is_missing_or_too_many_is_refused() {
	expect 2 durawheel list --topic
	says '--topic wants a value'
	expect 2 durawheel list --json=yes
	says '--json takes no value'
	expect 2 durawheel add --id a --id b --topic t --in 1h
	says '--id is given twice'
	expect 2 durawheel list --topic a --topic b
}

test_options_stand_anywhere() {
	expect 0 durawheel --topic t add --in=1h --id a
	prints a
	expect 0 durawheel --json list --topic=t
	is_counted out 1
	POSIXLY_CORRECT=1 expect 0 durawheel list --json
	is_counted out 1
}

test_an_id_may_start_with_a_dash() {
	expect 0 durawheel add --topic t --in 1h --id -x
	prints -x
	expect 0 durawheel add --topic t --in 1h --id=--help
	expect 0 durawheel show --json -- -x
	expect 0 durawheel cancel -- -x --help
	expect 0 durawheel list --json
	is_counted out 0
}

test_a_bad_number_is_refused() {
	for bad in '' -1 0 1e99 nan 0x10 ' 5' '5 ' 5s5 99999999999999999999; do
		expect 2 durawheel list --limit "$bad"
		says --limit
	done
}

test_a_bad_duration_is_refused() {
	for bad in '' -1 -5s 5 1e99 nan 0x10 ' 5' 5s5 5s1m 5y 5mins30min 1.h .5h 1.1234567s \
		1,5h 5M 1..5h 1h1.5; do
		expect 2 durawheel add --topic t --in "$bad"
		says 'is not a duration'
		expect 2 durawheel add --topic t --in 1h --late-after "$bad"
	done
	expect 2 durawheel add --topic t --in 1h --late-after 0s
}

test_a_duration_of_0_needs_no_unit() {
	expect 0 durawheel add --topic t --in 0 --id a
	printf '{"topic":"t","in":"0","id":"b"}' | expect 0 durawheel import
	expect 0 durawheel run --until-idle
	[ "$(ids_of out | tr '\n' ' ')" = 'a b ' ]
	expect 2 durawheel add --topic t --in 00
	expect 2 durawheel add --topic t --in 1h --late-after 0
}

# due_of ID: of the timer, in microseconds.
due_of() {
	expect 0 durawheel show --json "$1"
	sed 's/.*"due":\([0-9]*\).*/\1/' out
}

test_a_duration_may_be_written_as_one_says_it() {
	local before delay pair
	for pair in 5min=300 1.5h=5400 2hours=7200 1day2hrs=93600 1.5h30min=7200 90secs=90 \
		0.25d=21600 1hour1minute1second=3661; do
		before=$(date +%s)
		expect 0 durawheel add --topic t --id "$pair" --in "${pair%=*}"
		delay=$(($(due_of "$pair") / 1000000 - before - ${pair#*=}))
		if [ $delay -lt 0 ] || [ $delay -gt 60 ]; then fail "$pair: $delay s more"; fi
	done
	printf '{"topic":"t","in":"1.5h","id":"b"}' | expect 0 durawheel import
	expect 2 durawheel add --topic t --in 5minuets
	says 'write numbers with .* 5min, 2 hours and 1.5h are understood, too'
}

test_a_time_may_be_seconds_since_1970() {
	expect 0 durawheel add --topic t --id a --at 4102444800
	[ "$(due_of a)" = 4102444800000000 ]
	expect 0 durawheel add --topic t --id a --at 4102444800.000001
	[ "$(due_of a)" = 4102444800000001 ]
	expect 0 durawheel add --topic t --id a --at 253402300799
	[ "$(due_of a)" = 253402300799000000 ]
	printf '{"topic":"t","at":"4102444800.5","id":"b"}' | expect 0 durawheel import
	[ "$(due_of b)" = 4102444800500000 ]
	expect 2 durawheel add --topic t --at 4102444800000
	says 'is not a time: it looks like milliseconds; .* as @4102444800, which is 2100-01-01T'
}

test_a_bad_time_is_refused() {
	for bad in '' 0930 17803062 1780306200000 1780306200. 1780306200.1234567 253402300800 \
		-1780306200 @1780306200000 1780306200Z 2026-06-01 ' 2026-06-01'; do
		expect 2 durawheel add --topic t --at "$bad"
		says 'is not a time'
	done
	for bad in 2026-02-29T00:00:00Z 2026-06-01T24:00:00Z 2016-12-31T23:59:60Z \
		2026-06-01T09:30:00+25:00; do
		expect 2 durawheel add --topic t --at "$bad"
		says 'does not exist'
	done
}

test_a_time_is_read_in_its_zone_and_told() {
	export TZ=Europe/Berlin
	expect 0 durawheel add --topic t --id a --at '2100-12-01 09:00'
	says '^durawheel: due 2100-12-01 09:00:00 +01:00 Europe/Berlin, in [0-9]*d\([0-9]*h\)\?$'
	prints a
	[ "$(due_of a)" = 4131331200000000 ]
	expect 0 durawheel add --topic t --id b --at '2100-12-01 9am' --zone America/New_York
	says '^durawheel: due 2100-12-01 09:00:00 -05:00 America/New_York, '
	[ "$(due_of b)" = 4131352800000000 ]
	expect 0 durawheel move b --at '1 dec 2100 09:00'
	says '^durawheel: due 2100-12-01 09:00:00 +01:00 Europe/Berlin, '
	[ "$(due_of b)" = 4131331200000000 ]
	expect 0 durawheel list --json --due-from '2100-12-01 09:00' \
		--due-before '2100-12-01 09:00:01'
	says '^durawheel: due from 2100-12-01 09:00:00 +01:00 Europe/Berlin'
	says '^durawheel: due before 2100-12-01 09:00:01 +01:00 Europe/Berlin'
	[ "$(ids_of out | tr '\n' ' ')" = 'a b ' ]
	expect 0 durawheel cancel --due-from '2100-12-01 09:00' --dry-run --zone Asia/Tokyo
	says '^durawheel: due from 2100-12-01 09:00:00 +09:00 Asia/Tokyo'
	prints 'would cancel 2'
	expect 0 durawheel when --every 1h --from '2100-12-01 09:00' --count 1
	says '^durawheel: from 2100-12-01 09:00:00 +01:00 Europe/Berlin'
	prints '2100-12-01T08:00:00Z  2100-12-01T08:00:00+00:00'
	for exact in '2100-12-01T09:00:00+01:00' 4131331200 @4131331200; do
		expect 0 durawheel add --topic t --id a --at "$exact"
		is_counted err 0
	done
}

test_import_reads_times_in_the_zone_of_the_line() {
	export TZ=Europe/Berlin
	cat >lines <<-'END'
		{"id":"a","topic":"t","at":"2100-12-01 09:00"}
		{"id":"b","topic":"t","at":"2100-12-01 09:00","zone":"America/New_York"}
		{"topic":"t","id":"c","every":"9h","from":"2100-12-01 9am","zone":"EST5EDT"}
	END
	expect 0 durawheel import lines
	[ "$(due_of a) $(due_of b) $(due_of c)" = \
		'4131331200000000 4131352800000000 4131352800000000' ]
	expect 0 durawheel import --zone Asia/Tokyo lines
	[ "$(due_of a) $(due_of b)" = '4131302400000000 4131352800000000' ]
	expect 2 durawheel import --zone No/Where lines
	says '--zone: .*No/Where'
	echo '{"topic":"t","in":"1h","zone":"Asia/Tokyo"}' | expect 1 durawheel import
	says 'line 1: "zone" needs "at", "every" or "cron"$'
	echo '{"topic":"t","due":4131331200}' | expect 1 durawheel import
	says '"due":4131331200 looks like seconds: microseconds are wanted, as 4131331200000000$'
	echo '{"topic":"t","due":4131331200000}' | expect 1 durawheel import
	says '"due":4131331200000 looks like milliseconds: .* wanted, as 4131331200000000$'
}

test_times_are_shown_in_a_zone_on_demand() {
	export TZ=Europe/Berlin
	expect 0 durawheel add --topic t --id a --at 2100-07-01T09:00:00Z
	for command in list 'show a'; do
		expect 0 durawheel $command
		grep -q '2100-07-01T09:00:00.000000Z' out
		expect 0 durawheel $command --local
		grep -q '2100-07-01T11:00:00+02:00' out
		expect 0 durawheel $command --zone Asia/Kolkata
		grep -q '2100-07-01T14:30:00+05:30' out
		expect 2 durawheel $command --zone Asia/Kolkata --local
		says 'write --zone or --local, not both'
		expect 2 durawheel $command --zone Asia/Kolkat
		says '^durawheel: --zone: .*Asia/Kolkat: No such file or directory; write an IANA'
		TZ=No/Where expect 2 durawheel $command --local
		says '^durawheel: --local: this machine has no zone "No/Where", which TZ names: '
		TZ=EST5 expect 0 durawheel $command --local
		grep -q '2100-07-01T04:00:00-05:00' out
	done
	expect 0 durawheel add --topic u --id late --at 2020-01-01T00:00:00Z --late-after 1s
	expect 0 durawheel run --until-idle --topic u
	expect 0 durawheel dead list --zone Asia/Kolkata
	grep -q '+05:30 ' out
	expect 3 durawheel show late --zone Asia/Kolkata
	grep -q '+05:30,' out
}

test_add_wants_one_of_in_and_at() {
	expect 2 durawheel add --topic t
	says 'write one of --in DURATION and --at TIME, or, for a recurring timer, --every DURATION'
	expect 2 durawheel move a
	says 'one of --in DURATION and --at TIME'
	expect 2 durawheel add --topic t --in 1h --at 2026-06-01T09:30:00Z
	expect 2 durawheel add --in 1h
	says 'add: exactly one --topic is required'
	expect 2 durawheel add --topic t --in 1h --data a --data-file b
}

test_a_bad_id_or_topic_is_a_usage_error() {
	for bad in '' $'a\nb' $'\e[31m' $'\xff' "$(text 256)"; do
		expect 2 durawheel add --topic t --in 1h --id "$bad"
		says '^durawheel: '
		expect 2 durawheel add --topic "${bad:0:100}" --in 1h
	done
	! grep -q $'\e' err || fail 'an escape sequence reaches the terminal'
	expect 0 durawheel add --topic t --in 1h --id "$(text 255)"
	expect 0 durawheel add --topic "$(text 63)" --in 1h --id '{a}:*'
}

test_the_default_store_is_private() {
	unset DURAWHEEL_STORE
	expect 0 durawheel add --topic t --in 1h
	[ -f .local/state/durawheel/timers.db ]
	[ "$(stat -c %a .local/state/durawheel)" = 700 ]
	XDG_STATE_HOME=$PWD/state expect 0 durawheel add --topic t --in 1h
	[ -f state/durawheel/timers.db ]
	[ "$(stat -c %a state)" = 700 ]
	XDG_STATE_HOME=relative expect 0 durawheel list
	[ ! -e relative ]
	HOME='' expect 2 durawheel list
	says 'HOME is not set'
}

test_the_store_option_wins_over_the_environment() {
	expect 0 durawheel --store "sqlite:$PWD/other.db" add --topic t --in 1h
	[ -f other.db ]
	[ ! -f timers.db ]
}

test_a_bad_store_is_refused_and_its_password_masked() {
	for url in redis://me:secret@host:x/0 redis://:secret@host/x \
		redis://u:se/cr@secret@host/ unix://u:secret@socket other://u:secret@host \
		redis:/u:secret@host redis:u:secret@host redis//:secret@host :secret@host \
		u:secret@host:6379 REDIS:/:secret@host other://:secret secret@host:6379 \
		"rediss://:secret@host?insecure=yes" "rediss://:secret@host?ca=/nonexistent" \
		"redis://host?password-file=secret" unix:///u:secret@/run/socket \
		Valkeys://:secret@host secret se:cret ://secret "se cret://x"; do
		! durawheel --store "$url" list >out 2>err || fail "$url is taken"
		! grep -q 'cr' err || fail "a password is printed: $(cat err)"
		! DURAWHEEL_STORE=$url durawheel list >out 2>err || fail "$url is taken"
		! grep -q 'cr' err || fail "a password is printed: $(cat err)"
		# Where another word belongs.
		expect 2 durawheel "$url" list
		! grep -q 'cr' err || [[ $url != *@* ]] || fail "a password is printed: $(cat err)"
		expect 2 durawheel list "$url"
		! grep -q 'cr' err || [[ $url != *@* ]] || fail "a password is printed: $(cat err)"
	done
	expect 2 durawheel --store postgres://me@host list
	says 'the store "postgres:..." is of no known kind'
	says '; write .*, redis+sentinel://HOST,.../MASTER, redis+cluster://HOST,..., the same'
	says ' with rediss for TLS, or unix://SOCKET$'
	# Cut before its @.
	url=redis://u:$(printf 'secret%.0s' {1..100})@host
	expect 2 durawheel "$url" list
	! grep -q 'cr' err || fail "a password is printed: $(cat err)"
	expect 2 durawheel list "$url"
	! grep -q 'cr' err || fail "a password is printed: $(cat err)"
	expect 2 durawheel --store '' list
	expect 2 durawheel --store sqlite: list
	expect 2 durawheel --store nonsense list
	says 'of no known kind; write sqlite:FILE'
	touch kept
	for path in orders.db ./orders /tmp/orders kept dir/orders.sqlite3; do
		expect 2 durawheel --store $path list
		says "the store \"$path\" has no kind; write sqlite:$path\$"
	done
}

test_a_scheme_may_have_capital_letters() {
	expect 0 durawheel --store "SQLite:$PWD/capital.db" add --topic t --in 1h
	[ -f capital.db ]
	expect 2 durawheel --store Memory: list
	says 'write sqlite:FILE'
}

# It would end with the command.
test_a_store_in_memory_is_refused_with_what_to_write() {
	for command in 'add --topic t --in 1h' import list stats 'run --until-idle' \
		'purge --yes'; do
		expect 2 durawheel $command --store memory: </dev/null
		says 'write sqlite:FILE, for a try --store sqlite:/tmp/try.db$'
		DURAWHEEL_STORE=memory: expect 2 durawheel $command </dev/null
		says 'write sqlite:FILE'
	done
}

test_an_unreachable_store_is_told() {
	expect 6 durawheel --store sqlite:/nonexistent/folder/timers.db list
	says '^durawheel: '
	text 8192 >garbage.db
	expect 6 durawheel --store sqlite:garbage.db list
	expect 6 durawheel --store sqlite:garbage.db run --until-idle
	touch file
	XDG_STATE_HOME=$PWD/file DURAWHEEL_STORE='' expect 6 durawheel list
}

test_a_namespace_is_a_plain_word() {
	empty_store
	expect 0 durawheel --name shop.eu_1-a list
	for bad in '' 'a b' 'a{b}' 'a:b' "$(text 64)"; do
		expect 2 durawheel --name "$bad" list
		says --name
		[ -z "$bad" ] || DURAWHEEL_NAME=$bad expect 2 durawheel list
		[ -z "$bad" ] || says DURAWHEEL_NAME
	done
	DURAWHEEL_NAME='' expect 0 durawheel list
	DURAWHEEL_NAME='a b' expect 0 durawheel --name shop list
}

test_a_full_device_is_told() {
	expect 0 durawheel add --topic t --in 1h --id a
	for words in list 'list --json' 'show a' 'show --json a' stats --help --version; do
		code=0
		# shellcheck disable=SC2086
		durawheel $words >/dev/full 2>err || code=$?
		[ $code = 1 ] || fail "$words exits $code"
		says 'cannot write to stdout: No space'
	done
}

test_a_closed_stdout_is_told() {
	empty_store
	code=0
	durawheel list >&- 2>err || code=$?
	[ $code = 1 ] || fail "list exits $code"
	says 'cannot write to stdout'
	code=0
	durawheel add --topic t --in 1h --id a >&- 2>err || code=$?
	[ $code = 1 ] || fail "add exits $code"
	code=0
	durawheel cancel a >&- <&- 2>&- || code=$?
	[ $code = 0 ] || fail "cancel needs no streams and exits $code"
}

# `list | head`: the reader has what it wanted.
test_a_reader_that_leaves_hears_no_complaint() {
	many 20000 | durawheel import >/dev/null
	durawheel list --json 2>err | head -n 1 >out
	code=${PIPESTATUS[0]}
	is_counted out 1
	[ "$code" = 1 ] || fail "list exits $code"
	[ ! -s err ] || fail "list says $(cat err)"
}

# The output is more than a write of stdio, and less than two. The pipe takes one.
test_a_reader_that_leaves_before_the_last_write_hears_no_complaint() {
	many 60 | durawheel import >/dev/null
	mkfifo pipe
	exec 4<>pipe
	exec 3<pipe
	exec 5>pipe
	python3 -c 'import fcntl; fcntl.fcntl(4, 1031, 4096)' # F_SETPIPE_SZ
	durawheel list >&5 2>err 3<&- 4<&- &
	owner=$!
	exec 5>&-
	timeout "$patience" head -c 1 <&3 >first
	exec 4<&- 3<&-
	code=0
	wait "$owner" || code=$?
	[ "$code" = 1 ] || fail "list exits $code"
	[ ! -s err ] || fail "list says $(cat err)"
}

test_a_mebibyte_of_arguments_is_taken() {
	expect 0 durawheel add --topic t --in 1h
	mapfile -t ids < <(seq -f "%0200.0f" 5300)
	expect 3 durawheel cancel "${ids[@]}"
	is_counted err 5300
	expect 0 durawheel add --topic t --in 1h --data "$(text 130000)"
}

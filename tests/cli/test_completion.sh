# The completion for bash: what is offered at the end of a line.
# shellcheck shell=bash disable=SC2154,SC2034,SC2086,SC2016

# offers WORD...: completes the last word (perhaps empty) of durawheel WORD..., into the file out.
offers() {
	bash --norc --noprofile -c '
		source "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_durawheel
		[ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"
	' bash "$build/durawheel.bash" durawheel "$@" >out 2>err
	[ ! -s err ] || fail "it says $(cat err)"
}

# prints_lines: out has the lines of stdin.
prints_lines() {
	diff - out || fail "it offers $(cat out)"
}

# offers_at LINE: completes at the end of the line, which is divided into words as bash does.
offers_at() {
	bash --norc --noprofile -c '
		source "$1"
		_durawheel_patience=20
		COMP_LINE=$2 COMP_POINT=${#2}
		read -ra COMP_WORDS < <(sed "s/[:=]/ & /g" <<<"$2")
		[[ $2 != *[[:space:]:=] ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_durawheel
		[ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"
	' bash "$build/durawheel.bash" "$1" >out 2>err
	[ ! -s err ] || fail "it says $(cat err)"
}

test_completion_offers_ids_and_topics_of_the_store() {
	expect 0 durawheel add --topic order.timeout --id order:42 --in 1h
	expect 0 durawheel add --topic order.mail --id order:43 --in 1h
	expect 0 durawheel add --topic other --id 'with space' --in 1h
	expect 0 durawheel add --topic other --id '$(touch oops)' --in 1h
	expect 0 durawheel add --topic other --id 'quote"d' --in 1h
	expect 0 durawheel topic set queue --queue
	for command in cancel move show when why; do
		offers_at "durawheel $command "
		printf '%s\n' '\$\(touch\ oops\)' order:42 order:43 'with\ space' | prints_lines
	done
	offers_at 'durawheel cancel ord'
	printf '%s\n' order:42 order:43 | prints_lines
	offers_at 'durawheel cancel order:42 order:4' # bash replaces what is behind the colon
	printf '%s\n' 42 43 | prints_lines
	offers_at 'durawheel move order:'
	printf '%s\n' 42 43 | prints_lines
	for before in 'list --topic ' 'list --json --topic=' 'topic set ' 'topic pause '; do
		offers_at "durawheel ${before}o"
		printf '%s\n' order.mail order.timeout other | prints_lines
	done
	offers_at 'durawheel push --topic q'
	prints queue
	offers_at 'durawheel list --prefix wi'
	prints 'with\ space'
	for line in 'show --' 'move order:42 --in ' 'add --id ' 'import '; do
		offers_at "durawheel $line"
		! grep -q order out || fail "$line: $(cat out)"
	done
	[ ! -e oops ]
}

test_completion_asks_the_store_of_the_line() {
	expect 0 durawheel --store sqlite:here.db add --topic t --id here --in 1h
	offers_at 'durawheel --store sqlite:here.db show '
	prints here
	offers_at 'durawheel --store=sqlite:missing.db show '
	is_counted out 0
	[ ! -e missing.db ]
	for i in $(seq 150); do echo "{\"id\":\"n$i\",\"topic\":\"t\",\"in\":\"1h\"}"; done >lines
	expect 0 durawheel import lines
	offers_at 'durawheel cancel n'
	is_counted out 100
}

# A topic is asked for twice, at the same time, so both together wait no longer than one.
test_completion_does_not_wait_for_a_store_that_hangs() {
	local line='durawheel cancel --topic ' begin end
	on_redis
	kill -STOP "$redis_pid"
	begin=$EPOCHREALTIME
	bash --norc --noprofile -c '
		source "$1"
		_durawheel_patience=2
		COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=($2 "") COMP_CWORD=3
		_durawheel
		echo "${#COMPREPLY[@]}"
	' bash "$build/durawheel.bash" "$line" >out 2>err
	end=$EPOCHREALTIME
	kill -CONT "$redis_pid"
	prints 0
	is_counted err 0
	((${end/./} - ${begin/./} < $(of_idle 3900000))) || fail "$begin to $end"
}

test_completion_is_registered() {
	bash --norc --noprofile -c 'source "$1" && complete -p durawheel' bash \
		"$build/durawheel.bash" >out
	prints 'complete -F _durawheel durawheel'
}

test_completion_offers_commands() {
	offers ''
	cmp out <(names_of_commands)
	offers --store sqlite : x.db ca
	prints cancel
	offers --store = sqlite : x.db --name a ca
	prints cancel
	offers help ru
	prints run
	offers help dead ''
	[ "$(tr '\n' ' ' <out)" = 'list requeue drop ' ]
	offers help dead re
	prints requeue
	for name in run 'dead list'; do
		offers help $name ''
		is_counted out 0
	done
	offers dead ''
	[ "$(tr '\n' ' ' <out)" = 'list requeue drop ' ]
	offers dead re
	prints requeue
	offers nonsense ''
	is_counted out 0
}

test_completion_offers_the_options_of_the_command() {
	offers --l
	is_counted out 0
	offers list --li
	prints --limit
	offers dead list --
	printf '%s\n' --topic --limit --local --zone --json --store --name --shards --help \
		--version | prints_lines
	offers dead --limit 3 list --j
	prints --json
	offers list --json --t
	prints --topic
	offers --topic list add --da
	[ "$(tr '\n' ' ' <out)" = '--data --data-file --data-first ' ]
}

test_completion_offers_files_where_files_are_meant() {
	touch timers.ndjson 'with space' timers.db
	offers import ti
	[ "$(sort out | tr '\n' ' ')" = 'timers.db timers.ndjson ' ]
	offers add --data-file with
	prints 'with space'
	offers add --data-file = with
	prints 'with space'
	offers --store ''
	prints 'sqlite:
redis://
rediss://
redis+sentinel://
rediss+sentinel://
redis+cluster://
rediss+cluster://
unix://'
	offers --store sqlite : timers.d
	prints timers.db
	touch timers.db-{reserve,wal,shm,journal,owner,wake,standby}
	offers list --store sqlite : timers.d # what is kept beside a store is none
	prints timers.db
	offers list --store = sqlite : ti
	printf '%s\n' timers.db timers.ndjson | prints_lines
	offers run --exec ech
	grep -qx echo out
	offers run --outage ''
	printf '%s\n' hold fire | prints_lines
	for option in --topic --id --in --at; do
		offers add $option ''
		is_counted out 0
	done
	offers cancel ''
	is_counted out 0
}

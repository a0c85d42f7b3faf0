# The completions for fish and zsh, in these shells. A shell that is not installed is not tested.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

needs_shell() {
	command -v "$1" >/dev/null || not_tested "$1 is not installed"
}

# in_fish LINE: what fish offers at the end of the line, in the file out.
in_fish() {
	fish --no-config -c "source '$build/durawheel.fish'; complete -C '$1'" >out 2>err </dev/null
	[ ! -s err ] || fail "it says $(cat err)"
	cut -f 1 out | sort | tr '\n' ' ' >words
}

# in_zsh WORD...: what the completion gives to zsh for the last word.
in_zsh() {
	zsh -f -c '
		compadd() { print -rl -- "${@:#--}" }
		_describe() { print -rl -- ${commands%%:*} }
		_files() { print FILES }
		_command_names() { print COMMANDS }
		file=$1
		shift
		words=("$@") CURRENT=$#
		source "$file"
	' zsh "$build/durawheel.zsh" durawheel "$@" >out 2>err </dev/null
	[ ! -s err ] || fail "it says $(cat err)"
	sort out | tr '\n' ' ' >words
}

offers_words() {
	[ "$(<words)" = "$1" ] || fail "it offers $(<words), not $1"
}

commands_of_bash() {
	bash --norc --noprofile -c 'source "$1"; tr " " "\n" <<<"$_durawheel_commands"' bash \
		"$build/durawheel.bash" | sed '/^$/d' | sort | tr '\n' ' '
}

options_of_bash() {
	bash --norc --noprofile -c 'source "$1"; _durawheel_options "$2" | tr " " "\n"' bash \
		"$build/durawheel.bash" "$1" | sed '/^$/d' | sort -u | tr '\n' ' '
}

test_completion_in_fish() {
	needs_shell fish
	touch timers.ndjson
	in_fish 'durawheel '
	offers_words "$(commands_of_bash)"
	for name in list 'dead list' run 'journal replay' stats; do
		in_fish "durawheel $name --"
		offers_words "$(options_of_bash "$name")"
	done
	in_fish 'durawheel --store x.db dead re'
	offers_words 'requeue '
	in_fish 'durawheel serve --log '
	offers_words 'journal json text '
	in_fish 'durawheel help ca'
	offers_words 'cancel '
	in_fish 'durawheel import tim'
	offers_words 'timers.ndjson '
	in_fish 'durawheel add --data-file tim'
	offers_words 'timers.ndjson '
	in_fish 'durawheel cancel tim'
	offers_words ''
}

test_completion_in_zsh() {
	needs_shell zsh
	in_zsh ''
	offers_words "$(commands_of_bash)"
	for name in list 'dead list' run 'journal replay' stats; do
		# shellcheck disable=SC2086
		in_zsh $name --
		offers_words "$(options_of_bash "$name")"
	done
	in_zsh --store x.db dead ''
	offers_words 'drop list requeue '
	in_zsh serve --log ''
	offers_words 'journal json text '
	in_zsh import ''
	offers_words 'FILES '
	in_zsh run --exec ''
	offers_words 'COMMANDS '
	in_zsh list --limit ''
	offers_words ''
}

# zsh finds the completion in its folder, and loads it.
test_completion_is_found_by_zsh() {
	needs_shell zsh
	mkdir completions
	cp "$build/durawheel.zsh" completions/_durawheel
	zsh -f -c 'fpath=($PWD/completions $fpath); autoload -Uz compinit; compinit -u -d dump
		print -r -- $_comps[durawheel]' >out 2>err </dev/null
	prints _durawheel
}

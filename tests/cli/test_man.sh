# The manual pages, and what is installed.
# shellcheck shell=bash disable=SC2154,SC2034,SC2086

# page N: the manual page as plain text in the file out; what groff says in err. 5 is that of the
# configuration file.
page() {
	local file=durawheel.$1
	[ "$1" != 5 ] || file=durawheel.conf.5
	MANWIDTH=80 MANOPT='' man --warnings --nh --nj -l "$build/$file" >out.raw 2>err
	col -b <out.raw >out
}

test_man_pages_are_without_warnings() {
	for section in 1 5 7; do
		page $section
		[ ! -s err ] || fail "durawheel.$section: $(cat err)"
		grep -q "durawheel $(durawheel --version | cut -d ' ' -f 2)" out
		[ "$(wc -L <out)" -le 80 ]
	done
}

test_conf_page_names_the_keys_that_are_yes_or_no() {
	local key keys flags
	page 5
	tr -s ' \n' ' ' <out >flat
	keys=$(sed -n 's/.*durawheel run, with _ for -: \([^.]*\)\..*/\1/p' flat | tr -d ,)
	flags=" $(sed -n 's/.*Write yes or no for \([^.]*\)\..*/\1/p' flat | tr -d ,) "
	[ "$(wc -w <<<"$keys")" -gt 10 ] || fail "the page names only $keys"
	for key in $keys; do
		printf '[run]\n%s = maybe\n' "$key" >run.conf
		if durawheel run --config run.conf --check 2>&1 | grep -q 'write yes or no'; then
			[[ $flags == *" $key "* ]] || fail "$key is yes or no, and not in$flags"
		else
			[[ $flags != *" $key "* ]] || fail "$key is not yes or no"
		fi
	done
}

# command_pages: the names of the commands that have a page of their own.
command_pages() {
	all_commands | grep -vx help
}

test_each_command_has_a_page() {
	command_pages | tr ' ' - | sed 's/.*/durawheel-&.1/' | sort >wanted
	(cd "$build/man1" && ls) | sort | diff wanted -
	mapfile -t names < <(command_pages)
	for name in "${names[@]}"; do
		page=$build/man1/durawheel-${name// /-}.1
		MANWIDTH=80 MANOPT='' man --warnings --nh --nj -l "$page" >out.raw 2>err
		col -b <out.raw >out
		[ ! -s err ] || fail "$page: $(cat err)"
		[ "$(wc -L <out)" -le 80 ] || fail "$page is $(wc -L <out) wide"
		grep -q "durawheel-${name// /-} - [a-z]" out || fail "$page has no summary"
		durawheel help $name | sed -n 's/^Example: //p' >example
		grep -qF "$(cut -c 1-60 example)" out || fail "$page has no example"
		# What begins a line of OPTIONS: each option of --help, once.
		sed -n '/^OPTIONS/,/^EXIT/p' out | grep -oE '^ {7}(--?[a-z-]+( [^ -]+)?(, )?)+' |
			grep -o -e '--[a-z-]*' | sort >options
		[ ! "$(uniq -d options)" ] || fail "$page has twice $(uniq -d options)"
		options_in_help "$name" | diff - options || fail "of $page"
	done
}

# options_in_help COMMAND: its own options, as --help names them.
options_in_help() {
	bash -c 'source "$1" && _durawheel_options "$2"' bash "$build/durawheel.bash" "$1" |
		head -n 1 | tr ' ' '\n' | grep . | sort -u
}

# part NAME: of the file page, from this command's heading to the next, in the file part.
part() {
	sed -n "/^   $1 /,/^   [a-z]\|^[A-Z]/p" page >part
	[ -s part ] || fail "no part about $1"
}

test_man_page_has_every_command_and_option() {
	page 1
	cp out page
	mapfile -t names < <(all_commands | grep -vxE 'dead|journal|topic|help')
	for name in "${names[@]}"; do
		durawheel help $name | grep -vE '^(Example|Besides)' |
			grep -o -e '--[a-z-]*' >options || true
		part "$name"
		while read -r option; do
			grep -qwe "$option" part || fail "durawheel.1 says nothing of $name $option"
		done <options
	done
}

# has_keys NAME: the part about that command has each key of the JSON in out.
has_keys() {
	part "$1"
	grep -o '"[a-z_0-9]*":' out | tr -d : >keys
	[ -s keys ] || fail "$1 has no keys: $(cat out)"
	while read -r key; do
		grep -qF "$key" part || fail "durawheel.1 says nothing of $1's $key"
	done <keys
}

test_man_page_has_every_key_of_json() {
	page 1
	cp out page
	many 3 >some
	expect 0 durawheel import --json some
	has_keys import
	expect 0 durawheel list --json
	has_keys list
	expect 0 durawheel add --topic t --id late --at 2020-01-01T00:00:00Z --late-after 1s
	expect 0 durawheel run --until-idle
	has_keys run
	expect 0 durawheel dead list --json
	has_keys 'dead list'
	start
	expect 0 durawheel stats --json
	has_keys stats
	grep -q lag_max_us keys # the owner's
	stop_owner
	expect 0 durawheel add --topic t --in 1h --data 'the data that is flipped'
	LC_ALL=C sed -i 's/the data that is flipped/the data that is FLIPPED/' timers.db
	expect 1 durawheel check --json
	has_keys check
	grep -q what keys # of a flaw
}

test_man_pages_and_completion_are_installed() {
	expect 0 cmake --install "$build" --prefix "$PWD/usr"
	for section in 1 5 7; do
		name=durawheel
		[ $section != 5 ] || name=durawheel.conf
		[ -f usr/share/man/man$section/$name.$section ]
		man -M usr/share/man -w $section $name >out
		is_counted out 1
	done
	mapfile -t names < <(command_pages)
	for name in "${names[@]}"; do
		man -M usr/share/man -w "durawheel-${name// /-}" >out
		is_counted out 1
	done
	cmp usr/share/bash-completion/completions/durawheel "$build/durawheel.bash"
	cmp usr/share/zsh/site-functions/_durawheel "$build/durawheel.zsh"
	cmp usr/share/fish/vendor_completions.d/durawheel.fish "$build/durawheel.fish"
}

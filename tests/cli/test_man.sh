# The manual pages, and what is installed.
# shellcheck shell=bash disable=SC2154,SC2034,SC2086

# page N: the manual page as plain text in the file out; what groff says in err.
page() {
	MANWIDTH=80 MANOPT='' man --warnings --nh --nj -l "$build/durawheel.$1" >out.raw 2>err
	col -b <out.raw >out
}

test_man_pages_are_without_warnings() {
	for section in 1 7; do
		page $section
		[ ! -s err ] || fail "durawheel.$section: $(cat err)"
		grep -q "durawheel $(durawheel --version | cut -d ' ' -f 2)" out
		[ "$(wc -L <out)" -le 80 ]
	done
}

test_man_page_has_every_command_and_option() {
	page 1
	cp out page
	for name in $(names_of_commands) 'dead list' 'dead requeue' 'dead drop'; do
		case $name in dead | help) continue ;; esac
		durawheel help $name | grep -vE '^(Example|Besides)' |
			grep -o -e '--[a-z-]*' >options || true
		# From this command's heading to the next.
		sed -n "/^   $name /,/^   [a-z]\|^[A-Z]/p" page >part
		[ -s part ] || fail "no part about $name"
		while read -r option; do
			grep -qwe "$option" part || fail "durawheel.1 says nothing of $name $option"
		done <options
	done
}

test_man_pages_and_completion_are_installed() {
	expect 0 cmake --install "$build" --prefix "$PWD/usr"
	for section in 1 7; do
		[ -f usr/share/man/man$section/durawheel.$section ]
		man -M usr/share/man -w $section durawheel >out
		is_counted out 1
	done
	cmp usr/share/bash-completion/completions/durawheel "$here/../../src/cli/durawheel.bash"
}

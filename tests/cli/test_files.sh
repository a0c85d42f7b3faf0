# The store's files as others have left them.
# shellcheck shell=bash disable=SC2154,SC2034

# The words before a command to which the modes of files apply, even if root tests.
as_user=()
[ "$(id -u)" != 0 ] ||
	as_user=(setpriv --bounding-set '-dac_override,-dac_read_search'
		--inh-caps '-dac_override,-dac_read_search')

test_folder_that_cannot_be_written_is_refused() {
	mkdir folder
	expect 0 durawheel add --store sqlite:folder/timers.db --topic t --id a --in 1h
	chmod 500 folder
	for command in list run; do
		expect 6 "${as_user[@]}" durawheel $command --store sqlite:folder/timers.db
		says 'timers.db: stands in a folder that this user cannot write: run as .*folder'
	done
	expect 6 "${as_user[@]}" durawheel add --store sqlite:folder/new.db --topic t --in 1h
	says 'new.db: Permission denied'
	chmod 700 folder
	expect 0 "${as_user[@]}" durawheel show --store sqlite:folder/timers.db a
}

test_file_that_cannot_be_read_or_written_is_refused() {
	expect 0 durawheel add --store sqlite:timers.db --topic t --id a --in 1h
	chmod 400 timers.db
	expect 6 "${as_user[@]}" durawheel list --store sqlite:timers.db
	says 'timers.db: is read-only for this user: run as the file.s user, or let'
	[ ! -e timers.db-wal ] # of a user who only looked; the owner could not write it
	chmod 0 timers.db
	expect 6 "${as_user[@]}" durawheel list --store sqlite:timers.db
	says 'timers.db: Permission denied'
	chmod 600 timers.db
	expect 0 "${as_user[@]}" durawheel show --store sqlite:timers.db a
}

# A limit on file sizes, which by default ends whoever meets it with a signal.
test_limit_on_file_sizes_is_a_full_disk() {
	expect 0 durawheel add --topic t --in 1h --id a
	text 102400 >lines
	rm timers.db-reserve
	(
		ulimit -f 100 # too little for a reserve, enough for the other files
		expect 6 durawheel add --topic t --in 1h --id b
		says '^durawheel: b: the store is full: .* no file may exceed 100 KiB (ulimit -f)$'
		expect 0 durawheel cancel a
		expect 1 sh -c 'durawheel list >>lines'
		says 'cannot write to stdout: File too large'
		ulimit -f 1
		expect 6 durawheel add --store sqlite:new.db --topic t --in 1h
		says 'new.db: the disk is full'
	)
	has_count pending 0
}

# What is refused while the file is away is told once, and fires when it is back.
test_file_that_is_moved_away_and_back() {
	export DURAWHEEL_STORE=sqlite:timers.db
	local owner
	durawheel add --topic t --id a --in 1s >/dev/null
	durawheel run >lines 2>owner.err &
	owner=$!
	await grep -q 'running, 1 timer' owner.err
	mv timers.db away.db
	await grep -q 'timers.db was deleted or moved away while it was open' owner.err
	await grep -q 'the store failed (' owner.err # and why, unless a commit was under way
	mv away.db timers.db
	await grep -q 'timers.db is back' owner.err
	await has_count pending 0
	kill $owner
	wait $owner
	is_counted lines 1
	[ "$(grep -c 'the store failed' owner.err)" = 1 ]
}

# The -wal of a file that was moved away has its last timers, and no new file takes its place.
test_file_that_is_moved_away_keeps_its_timers() {
	local owner
	durawheel run --store sqlite:timers.db >lines 2>owner.err &
	owner=$!
	await grep -q 'running, 0 timers' owner.err
	expect 0 durawheel add --store sqlite:timers.db --topic t --id a --in 1h
	mv timers.db away.db
	for command in 'add --topic t --in 1h' run; do
		# shellcheck disable=SC2086
		expect 6 durawheel $command --store sqlite:timers.db
		says 'timers.db: is missing or empty, and its -wal has timers of it'
	done
	[ ! -e timers.db ]
	kill $owner
	wait $owner || true
	: >timers.db
	expect 6 durawheel add --store sqlite:timers.db --topic t --in 1h
	mv away.db timers.db
	expect 0 durawheel show --store sqlite:timers.db a
}

# A command that root runs once locks nobody out of the store of another user.
test_root_gives_its_files_to_the_user_of_the_store() {
	local owner
	[ "$(id -u)" = 0 ] || not_tested 'it is for root'
	export DURAWHEEL_STORE=sqlite:timers.db
	expect 0 durawheel add --topic t --id a --in 1h
	chown 65534 timers.db*
	rm -f timers.db-*
	expect 0 durawheel list
	durawheel run >lines 2>owner.err &
	owner=$!
	await grep -q 'running, 1 timer' owner.err
	[ "$(stat -c %u timers.db* | sort -u)" = 65534 ] || fail "$(ls -ln)"
	kill $owner
	wait $owner
	durawheel run >lines 2>owner.err &
	owner=$!
	await grep -q 'running, 1 timer' owner.err
	! grep -q 'cannot be made' owner.err || fail "$(cat owner.err)"
	kill $owner
	wait $owner
}

# What others do to the modes of a file in use is told as what it is, and once.
test_file_that_may_not_be_reached_any_more() {
	local owner
	mkdir folder
	export DURAWHEEL_STORE=sqlite:folder/timers.db
	expect 0 durawheel add --topic t --in 1h --id a
	"${as_user[@]}" durawheel run >lines 2>owner.err &
	owner=$!
	await grep -q 'running, 1 timer' owner.err
	chmod 0 folder
	await grep -q 'timers.db: Permission denied: the folder .*/folder belongs to user' owner.err
	await grep -q 'the store failed (' owner.err
	chmod 700 folder
	await grep -q 'timers.db is back' owner.err
	chmod 0 folder/timers.db
	rm folder/timers.db-wal
	await grep -q 'timers.db: Permission denied: it belongs to user [0-9]* (mode 000)' owner.err
	sleep 2.5 # it tries again each second
	chmod 600 folder/timers.db
	await ends_well
	kill $owner
	wait $owner
	! grep -q 'deleted or moved away' owner.err
	[ "$(grep -c 'Permission denied' owner.err)" = 2 ]
}

ends_well() {
	tail -n 1 owner.err | grep -q 'answers again'
}

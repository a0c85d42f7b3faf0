# A server that lacks the commands for scripts, and a user that has no right to them.
# shellcheck shell=bash disable=SC2154,SC2034

# What is refused is told, and not asked without end.
test_redis_that_loads_no_scripts() {
	local since count
	on_redis
	expect 0 durawheel add --shards 1 --topic t --in 2s --id a
	start
	since=$SECONDS
	redis ACL SETUSER default -script
	await grep -q 'the server refuses SCRIPT LOAD: NOPERM' log
	redis INFO errorstats | tr -d '\r' >errors
	count=$(sed -n 's/^errorstat_NOSCRIPT:count=//p' errors)
	[ "$count" -le $((100 * (SECONDS - since + 1))) ] || fail "asked $count times"
	redis ACL SETUSER default +@all
	await grep -q '"id":"a"' fired
	stop_owner
}

# No operation can be done there, and waiting mends nothing.
test_redis_without_the_commands_for_scripts() {
	local command words
	for command in SCRIPT EVALSHA EVAL; do
		on_redis --rename-command $command ''
		for words in run 'run --standby' 'run --journal j' list; do
			# shellcheck disable=SC2086
			expect 6 durawheel $words
			says "refuses $command: ERR unknown command .*: durawheel needs EVAL,"
			is_counted err 1
		done
		redis_stop
	done
}

# A right can be given again, so it ends only a start, and not one with a journal.
test_redis_user_without_the_right_to_run_scripts() {
	local command
	on_redis
	expect 0 durawheel add --topic t --in 3s --id later
	for command in script evalsha eval; do
		redis ACL SETUSER default -$command
		expect 6 durawheel run
		says "refuses ${command^^}.*: NOPERM .*: durawheel needs EVAL, EVALSHA and SCRIPT"
		redis ACL SETUSER default +@all
	done
	start
	redis ACL SETUSER default -evalsha
	await grep -q 'the server refuses: NOPERM .*evalsha' log
	redis ACL SETUSER default +@all
	await grep -q '"id":"later"' fired
	stop_owner
	redis ACL SETUSER default -evalsha
	durawheel run --journal j >>fired 2>log &
	owner=$!
	await grep -q 'the server refuses: NOPERM .*evalsha' log
	redis ACL SETUSER default +@all
	expect 0 durawheel add --topic t --in 0 --id more
	await grep -q '"id":"more"' fired
	stop_owner
}

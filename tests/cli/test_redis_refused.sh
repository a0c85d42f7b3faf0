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

# may_use_all_but USER SHARD...: this user of Redis may use all keys but those of these shards.
may_use_all_but() {
	local user=$1 shard keys=()
	shift
	for shard in {00..15}; do
		[[ " $* " = *" $shard "* ]] || keys+=("~{durawheel:$shard}:*")
	done
	redis ACL SETUSER "$user" on '>secret' '&*' +@all resetkeys '~{durawheel}:*' "${keys[@]}"
}

# Another process has all rights. It says what the owner cannot use, and why.
test_redis_shard_that_only_the_owner_cannot_use() {
	local words
	on_redis
	empty_store
	may_use_all_but boss
	DURAWHEEL_STORE=redis://boss:secret@127.0.0.1:$redis_port start
	expect 0 durawheel stats
	lacks 'cannot be used|^ *shards' out
	may_use_all_but boss 05 11
	words='shards 5, 11 of 16 cannot be used: their timers wait'
	await eval "durawheel stats | grep -q '^refused  *$words\$'"
	expect 0 durawheel stats
	grep -q '^  shard 5  *2.*ago' out
	grep -q '^  *the server refuses {durawheel:11}: NOPERM ' out
	expect 0 durawheel add --topic t --id x6 --in 0s # it is in shard 5
	await shows x6 refused
	tells x6 refused check
	grep -q '^waits for .*: the server refuses {durawheel:05}: NOPERM' out
	expect 0 durawheel cancel x6
	expect 0 durawheel stats --json
	grep -q '"shards":16,"shards_owned":14,"shards_refused":2,"refused":\[{"shard":5,' out
	expect 0 durawheel top --once
	grep -q "^refused  *$words, .* ago: the server refuses {durawheel:05}: NOPERM" out
	grep -q 'owner .*, for ' out
	may_use_all_but boss 11
	await eval "durawheel top --once | grep -q 'shard 11 of 16 cannot be used: its timers wait'"
	may_use_all_but boss
	await has_count shards_refused 0
	expect 0 durawheel top --once
	lacks 'cannot be used' out
	stop_owner
}

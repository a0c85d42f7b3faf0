# cancel SELECTION that is stopped on its way: it has cancelled each timer or left it.
# shellcheck shell=bash disable=SC2154,SC2034

sweep_size=60000

fill_for_sweep() {
	seq $sweep_size | sed 's/.*/{"id":"a:&","topic":"t","at":"2100-01-01T00:00:00Z"}/' >lines
	expect 0 durawheel import lines
}

pending() {
	durawheel stats --json | sed 's/.*"pending":\([0-9]*\).*/\1/'
}

is_begun() {
	[ "$(pending)" -lt "$1" ]
}

# sweep_stopped SIGNAL: a sweep gets the signal once it has cancelled something. Its exit code goes
# to $code. bash lets a process in the background ignore SIGINT.
sweep_stopped() {
	local before sweep
	before=$(pending)
	env --default-signal=INT durawheel cancel --topic t --yes >out 2>err &
	sweep=$!
	await is_begun "$before"
	kill -"$1" $sweep
	code=0
	wait $sweep || code=$?
}

test_cancel_selection_says_how_far_it_came() {
	fill_for_sweep
	sweep_stopped INT
	[ $code = 130 ]
	says '^durawheel: interrupted: run it again to cancel the rest$'
	left=$(pending)
	[ "$left" -gt 0 ]
	prints "cancelled $((sweep_size - left))"
	sweep_stopped TERM
	[ $code = 143 ]
	prints "cancelled $((left - $(pending)))"
	left=$(pending)
	expect 0 durawheel cancel --topic t --yes
	prints "cancelled $left"
}

test_cancel_stream_says_how_far_it_came() {
	local signal sweep
	fill_for_sweep
	for signal in INT TERM HUP; do
		rm -f ids
		mkfifo ids
		env --default-signal=INT,TERM,HUP durawheel cancel - <ids >out 2>err &
		sweep=$!
		exec 3>ids
		left=$(pending)
		seq -f "a:%.0f" $((sweep_size - left + 1)) $((sweep_size - left + 5000)) >&3
		await is_begun "$((left - 4999))"
		kill -$signal $sweep
		code=0
		wait $sweep || code=$?
		exec 3>&-
		[ $code -gt 128 ]
		says '^durawheel: interrupted: run it again to cancel the rest$'
		prints "cancelled 5000, too late 0, no such timer 0, failed 0"
	done
}

# As under nohup: what is ignored at the start stays ignored.
test_cancel_goes_on_if_the_signal_is_ignored() {
	local signal sweep
	for signal in INT HUP; do
		fill_for_sweep
		env --ignore-signal=$signal durawheel cancel --topic t --yes >out 2>err &
		sweep=$!
		await is_begun $sweep_size
		kill -$signal $sweep || true
		wait $sweep
		prints "cancelled $sweep_size"
		[ "$(pending)" = 0 ]
	done
}

# killed_sweep: nothing is half cancelled, and the next sweep cancels the rest.
killed_sweep() {
	fill_for_sweep
	sweep_stopped KILL
	[ $code = 137 ]
	left=$(pending)
	expect 0 durawheel check
	expect 0 durawheel list --json
	is_counted out "$left"
	expect 0 durawheel cancel --topic t --yes
	prints "cancelled $left"
	expect 0 durawheel check
}

test_killed_sweep_leaves_nothing_half_done() {
	killed_sweep
}

owner_has_none() {
	durawheel stats --json | grep -q '"owner_report":{"timers":0,'
}

test_redis_killed_sweep_beside_an_owner() {
	on_redis
	start
	killed_sweep
	await has_count inbox 0
	await owner_has_none
	stop_owner
}

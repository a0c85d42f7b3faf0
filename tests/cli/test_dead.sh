# dead: list, requeue, drop.
# shellcheck shell=bash disable=SC2154,SC2034

# dies ID...: timers that come too late and are dead then.
dies() {
	local id
	for id; do
		expect 0 durawheel add --topic t --id "$id" --at 2020-01-01T00:00:00Z \
			--late-after 1h --data "of $id"
	done
	expect 0 durawheel run --until-idle
	is_counted out 0
}

test_dead_list_says_what_and_why() {
	dies a
	expect 0 durawheel dead list --json
	pattern='{"id":"a","topic":"t","reason":"LATE","at":[0-9]*,"due":1577836800000000,'
	pattern=$pattern'"attempt":1,"retries":0,"crashes":0,"generation":[0-9]*,"data":"of a"}'
	grep -qx "$pattern" out
	expect 0 durawheel dead list
	is_counted out 2
	head -n 1 out | grep -q '^DIED  *ID TOPIC REASON   ATTEMPT     SIZE  WHY$'
	grep -q 'Z [0-9]*m*s ago  *a  t     LATE           1        4$' out
	expect 0 durawheel list --json
	is_counted out 0
}

test_dead_list_has_pages_and_topics() {
	many 2300 | sed 's/}$/,"late_after":"1s"}/' | durawheel import
	expect 0 durawheel add --topic u --id other --at 2020-01-01T00:00:00Z --late-after 1s
	expect 0 durawheel run --until-idle
	expect 0 durawheel dead list --json
	is_counted out 2301
	[ "$(ids_of out | sort -u | wc -l)" = 2301 ]
	expect 0 durawheel dead list --json --limit 1500
	is_counted out 1500
	expect 0 durawheel dead list --json --topic u
	[ "$(ids_of out)" = other ]
	expect 0 durawheel dead requeue --all --topic t --in 1h
	prints 'requeued 2300'
	expect 0 durawheel dead drop --all
	prints 'dropped 1'
	has_count dead 0
	has_count pending 2300
}

test_dead_requeue_makes_a_timer_again() {
	dies a b
	expect 0 durawheel dead requeue a
	is_counted out 0
	expect 3 durawheel dead requeue a
	says '^durawheel: a: no such dead letter'
	expect 0 durawheel run --until-idle
	[ "$(ids_of out)" = a ]
	grep -q '"attempt":2,"data":"of a"}$' out
	expect 0 durawheel dead requeue b --at 2100-01-01T00:00:00Z
	expect 0 durawheel show b --json
	grep -q '"due":4102444800000000,' out
}

test_dead_requeue_leaves_a_living_timer_alone() {
	dies a
	expect 0 durawheel add --topic t --id a --in 1h --data new
	expect 4 durawheel dead requeue a
	says '^durawheel: a: the id has a timer again; cancel that first'
	expect 4 durawheel dead requeue --all
	prints 'requeued 0'
	expect 0 durawheel show a --json
	grep -q '"data":"new"}$' out
	has_count dead 1
	expect 0 durawheel cancel a
	expect 0 durawheel dead requeue a
}

test_dead_drop_forgets() {
	dies a b c
	dies a
	has_count dead 4
	expect 3 durawheel dead drop a x
	says '^durawheel: x: no such dead letter'
	has_count dead 2
	expect 0 durawheel dead drop --all
	prints 'dropped 2'
	expect 0 durawheel dead drop --all
	prints 'dropped 0'
}

test_dead_letters_of_commands_that_fail() {
	expect 0 durawheel add --topic t --id a --in 0
	start --exec 'exit 3'
	await is_counted fired 1
	expect 0 durawheel dead list --json
	is_counted out 0
	stop_owner
}

test_dead_letters_of_commands_that_give_up() {
	expect 0 durawheel add --topic t --id a --in 0 --data hi
	start --exec 'exit 100'
	await is_counted fired 1
	grep -q '"exit":100}$' fired
	await has_count dead 1
	stop_owner
	expect 0 durawheel dead list --json
	grep -q '"id":"a",.*"reason":"GAVE_UP","at":.*"attempt":1,"retries":0,' out
}

test_dead_words_are_checked() {
	empty_store
	expect 2 durawheel dead
	says 'dead: write dead list, dead requeue or dead drop'
	expect 2 durawheel dead lst
	says 'dead lst: write dead list'
	for what in requeue drop; do
		expect 2 durawheel dead $what
		says "dead $what: write ids, or --all for all of them"
		expect 2 durawheel dead $what --all a
		expect 2 durawheel dead $what a --topic t
		says "dead $what: --topic is for --all"
		expect 2 durawheel dead $what ''
	done
	expect 2 durawheel dead drop a --in 1h
	says 'dead drop has no option --in'
	expect 2 durawheel dead list a
	expect 2 durawheel dead list --topic a --topic b
	expect 2 durawheel dead list --limit 0
	expect 2 durawheel dead requeue a --in 1h --at 2100-01-01T00:00:00Z
	expect 2 durawheel list --all
}
